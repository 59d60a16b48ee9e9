// Endgame tables in Node: results equal those of the program, errors are distinguished, and damaged bytes give no answer.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Chess } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const here = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish/endgames")} */
const { openEndgames, ShelfishError } = await import(here("endgames.js"));
/** @type {typeof import("shelfish/endgames")} */
const node = await import(here("endgames-node.js"));
/** @type {typeof import("shelfish/engine")} */
const { openEvaluator } = await import(here("engine-inline.js"));

const TABLES = join(ROOT, "static-shards/endgames");
const BISHOP_AND_KNIGHT = "8/8/8/4k3/8/8/8/2B1KN2 w - - 0 1";

/** @type {string} */
let root;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
before(async () => {
  root = mkdtempSync(join(tmpdir(), "shelfish-endgames-"));
  cpSync(TABLES, join(root, "tables"), { recursive: true });
  shelf = await host(root);
});
after(async () => {
  await shelf.close();
  rmSync(root, { recursive: true });
});

/** Returns random legal positions of an ending such as `KRvKP`, with either side to move. */
function positions(
  /** @type {string} */ material,
  /** @type {number} */ count,
  seed = 1,
) {
  const next = () =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const [white = "", black = ""] = material.split("v");
  const found = [];
  while (found.length < count) {
    const squares = Array.from({ length: 64 }, () => "1");
    for (const piece of white + black.toLowerCase())
      squares[Math.floor(next() * 64)] = piece;
    const board = squares.join("").replace(/.{8}(?=.)/g, "$&/");
    const setup = parseFen(
      `${board} ${next() < 0.5 ? "w" : "b"} - - ${Math.floor(next() * 100)} 1`,
    );
    const chess = setup.isOk ? Chess.fromSetup(setup.value) : undefined;
    const isComplete =
      squares.filter((square) => square !== "1").length === material.length - 1;
    if (isComplete && chess?.isOk && chess.value.hasDests())
      found.push(makeFen(chess.value.toSetup()));
  }
  return found;
}

test("all endings have the results of the program, over HTTP and in a folder", async () => {
  const endings = readdirSync(TABLES)
    .filter((name) => name.endsWith(".rtbw"))
    .map((name) => name.replace(".rtbw", ""));
  assert.equal(endings.length, 35);
  const fens = endings.flatMap((ending, n) => positions(ending, 12, n + 1));
  const output = execFileSync(
    SHELFISH,
    ["endgames", "probe", "-d", TABLES, "--json", ...fens],
    { encoding: "utf8", maxBuffer: 1e8 },
  );
  const expected = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [remote, local] = [
    await openEndgames(`${shelf.url}tables/`),
    await node.openEndgames(TABLES),
  ];
  for (const endgames of [remote, local]) {
    assert.equal(endgames.maxPieces, 4);
    const results = await endgames.probeMany(fens);
    for (const [n, result] of results.entries()) {
      assert.ok(!(result instanceof ShelfishError), String(result));
      const { outcome, dtz, rounded, moves } = expected[n];
      assert.deepEqual(
        [result.outcome, result.dtz, result.isRounded, result.from],
        [outcome, dtz, rounded, "endgames"],
        fens[n],
      );
      const own = result.moves.map(
        ({ uci, san, outcome, dtz, isZeroing, isCheckmate, isStalemate }) => ({
          uci,
          san,
          outcome,
          dtz,
          zeroing: isZeroing,
          checkmate: isCheckmate,
          stalemate: isStalemate,
        }),
      );
      assert.deepEqual(own, moves, fens[n]);
    }
  }
  assert.ok(
    remote.stats().requests > 70 && remote.stats().bytes < 5e6,
    JSON.stringify(remote.stats()),
  );
  remote.close();
  local.close();
});

test("positions without tables are errors with a reason, and take no request", async () => {
  const endgames = await openEndgames(`${shelf.url}tables/endgames.index`);
  const { requests } = endgames.stats();
  const fails = (/** @type {string} */ fen, /** @type {string} */ code) =>
    assert.rejects(
      endgames.probe(fen),
      (error) => error instanceof ShelfishError && error.code === code,
    );
  await fails("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling");
  await fails(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
    "pieces",
  );
  await fails("8/8/8/8/8/8/8/8 w - - 0 1", "fen");
  assert.equal(endgames.stats().requests, requests);
  const [good, bad] = await endgames.probeMany([BISHOP_AND_KNIGHT, "nonsense"]);
  assert.ok(
    good && "outcome" in good && good.outcome === "win" && good.dtz === 56,
  );
  assert.ok(bad instanceof ShelfishError && bad.code === "fen");
  const aborted = AbortSignal.abort("enough");
  await assert.rejects(endgames.probe(BISHOP_AND_KNIGHT, { signal: aborted }), {
    name: "AbortError",
  });
  await assert.rejects(
    openEndgames(`${shelf.url}none/`),
    (error) =>
      error instanceof ShelfishError &&
      error.code === "status" &&
      error.status === 404,
  );
  endgames.close();
  await assert.rejects(
    endgames.probe(BISHOP_AND_KNIGHT),
    (error) => error instanceof ShelfishError && error.code === "closed",
  );
});

test("the evaluator asks the tables first, and opens them for few pieces only", async () => {
  let opened = 0;
  const asked = /** @type {string[]} */ ([]);
  const database = {
    lookup: async (/** @type {string} */ fen) => (asked.push(fen), null),
  };
  const evaluator = openEvaluator({
    database,
    endgames: () => (opened++, openEndgames(`${shelf.url}tables/`)),
  });
  const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  assert.equal(await evaluator.evaluate(START), null);
  assert.deepEqual([opened, asked.length], [0, 1]);
  const exact = await evaluator.evaluate(BISHOP_AND_KNIGHT, { san: true });
  assert.deepEqual(
    [exact?.from, exact?.pvs[0].cp, exact?.pvs[0].score, exact?.endgame?.dtz],
    ["endgames", 20_000, "1-0", 56],
  );
  assert.deepEqual([opened, asked.length], [1, 1]);
  evaluator.close();
});
