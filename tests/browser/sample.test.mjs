// The famous games of the sample: the evaluations along each game are consistent.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeFen } from "chessops/fen";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { makeUci } from "chessops/util";
import { lab } from "./support/lab.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { truth } from "./support/truth.mjs";

/** Maximum difference between two consecutive evaluations, in winning chances from -1 to 1. */
const LIMIT = 0.3;

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Returns White's winning chances by the formula of Lichess. */
const chances = (/** @type {{ cp?: number, mate?: number }} */ { cp, mate }) =>
  mate !== undefined
    ? Math.sign(mate || 1)
    : 2 /
        (1 +
          Math.exp(-0.00368208 * Math.max(-1000, Math.min(1000, Number(cp))))) -
      1;

/** Returns the famous games: their positions, and the moves between them with castling as in Chess960. */
const games = parsePgn(
  readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8"),
).map((game) => {
  const position = startingPosition(game.headers).unwrap();
  const fens = [makeFen(position.toSetup(), { epd: true })];
  const moves = [];
  for (const { san } of game.moves.mainline()) {
    const move = parseSan(position, san);
    assert.ok(move, san);
    moves.push(makeUci(move));
    position.play(move);
    fens.push(makeFen(position.toSetup(), { epd: true }));
  }
  return {
    name: `${game.headers.get("White")} – ${game.headers.get("Black")}`,
    fens,
    moves,
    over: position.isEnd(),
  };
});

test("no position is in both dumps of the sample", () => {
  const [sample, famous] = DUMPS.map((dump) => truth(dump));
  assert.ok(sample && famous && famous.size === 1574);
  assert.deepEqual(
    [...famous.keys()].filter((fen) => sample.has(fen)),
    [],
  );
});

test("along the famous games no evaluation contradicts its predecessor", async (t) => {
  const page = await shelf.page(t);
  await page.evaluate(
    async () =>
      void (globalThis.database = await shelfish.openDatabase(
        "db/manifest.json",
        { indexedDB: false },
      )),
  );
  let compared = 0;
  const contradictions = [];
  for (const { name, fens, moves, over } of games) {
    const wanted = over ? fens.slice(0, -1) : fens;
    const answers = await page.evaluate(
      (fens) => database.lookupMany(fens, { castling: "chess960" }),
      wanted,
    );
    for (let ply = 0; ply + 1 < answers.length; ply++) {
      const [here, next] = [answers[ply], answers[ply + 1]];
      assert.ok(
        here && next && "best" in here && "best" in next,
        `${name}, ply ${ply} and the next are known`,
      );
      const [now, then] = [
        chances(here.best.pvs[0] ?? {}),
        chances(next.best.pvs[0] ?? {}),
      ];
      const mover = fens[ply]?.includes(" w ") ? 1 : -1;
      const gain = mover * (then - now);
      const isBest = here.best.pvs[0]?.uci[0] === moves[ply];
      compared++;
      // The best move keeps the chances; no move improves them.
      if (gain > LIMIT || (isBest && gain < -LIMIT))
        contradictions.push(
          `${name}, ply ${ply + 1}, ${moves[ply]}: ${now.toFixed(2)} at depth ${here.best.depth}, then ${then.toFixed(2)} at ${next.best.depth}`,
        );
    }
  }
  assert.ok(compared > 1500, `${compared} pairs`);
  assert.deepEqual(contradictions, []);
});
