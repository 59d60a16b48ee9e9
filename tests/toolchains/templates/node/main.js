import { openDatabase, sample } from "shelfish";

const shelf = await openDatabase(process.argv[2] ?? sample());
const best = await shelf.lookup(
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
  { san: true },
);
console.log(`${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`);
shelf.close();
