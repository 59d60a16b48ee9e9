import { openDatabase, sample } from "shelfish";

export async function answer(url) {
  try {
    const shelf = await openDatabase(url ?? sample());
    const best = await shelf.lookup(
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
      { san: true },
    );
    shelf.close();
    return `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`;
  } catch (error) {
    return `${error.name} ${error.code}: ${error.message}`;
  }
}
