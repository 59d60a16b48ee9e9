import { connect } from "shelfish/worker";

const db = new URLSearchParams(location.search).get("db");
const show = (text) =>
  void (document.querySelector("#answer").textContent = text);

async function answer() {
  const shelf = await connect(
    new Worker(new URL("./evals.js", import.meta.url), { type: "module" }),
    db,
  );
  const best = await shelf.lookup(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    { san: true },
  );
  return `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`;
}

answer()
  .catch((error) => `${error.name} ${error.code}: ${error.message}`)
  .then(show);
