// A page with the bar: `?db=` names the database, and a field the position.

import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { EvalBar, useDatabase } from "./EvalBar";

const url = new URLSearchParams(location.search).get("db") ?? "https://example.org/evals/";

function Page() {
  const [fen, setFen] = useState("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  return (
    <>
      <label>
        FEN <input value={fen} size={80} onChange={(event) => setFen(event.target.value)} />
      </label>
      <EvalBar database={useDatabase(url)} fen={fen} />
    </>
  );
}

createRoot(document.querySelector("#page")!).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
