import { openDatabase } from "shelfish";

test("answers", async () => {
  const shelf = await openDatabase(process.env.DATABASE, { indexedDB: false });
  const best = await shelf.lookup(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    { san: true },
  );
  expect(`${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`).toBe(
    "20 +0.36 d4",
  );
});
