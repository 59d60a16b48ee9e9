// A page with the bar: `?db=` names the database, and a field the position.

import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { EvalBar } from "./EvalBar";

const database =
  new URLSearchParams(location.search).get("db") ??
  new URL("evals/", location.href).href;

function Page() {
  const [fen, setFen] = useState(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  );
  const [engine, setEngine] = useState(false);
  return (
    <>
      <label>
        FEN{" "}
        <input
          value={fen}
          size={80}
          onChange={(event) => setFen(event.target.value)}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={engine}
          onChange={(event) => setEngine(event.target.checked)}
        />{" "}
        Engine for other positions
      </label>
      <EvalBar fen={fen} database={database} engine={engine} />
    </>
  );
}

createRoot(document.querySelector("#page")!).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
