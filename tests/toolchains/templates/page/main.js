import { openDatabase, sample } from "shelfish";

async function answer(url) {
  const shelf = await openDatabase(url ?? sample());
  const best = await shelf.lookup(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    { san: true },
  );
  return `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`;
}

answer(new URLSearchParams(location.search).get("db"))
  .catch((error) => `${error.name} ${error.code}: ${error.message}`)
  .then((text) => {
    document.querySelector("#answer").textContent = text;
  });
