// `shelfish/engine` in Node: the same search as natively, limits, several Workers, and errors for wrong arguments.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, SHELFISH } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish/engine")} */
const { openEngine, ShelfishError } = await import(at("engine-inline.js"));

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE =
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const ENDGAME = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 3 40";
const CASTLING =
  "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9";

/** @typedef {{ depth: number, nodes: number, score: string, pv: string }} Found */

/**
 * Returns the lines that the native program finds.
 * @param {string} fen
 * @param {number} nodes
 * @param {number} lines
 * @returns {Promise<Found[]>}
 */
async function natively(fen, nodes, lines) {
  const engine = spawn(SHELFISH, ["engine"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const setup = [
    "setoption name Hash value 16",
    `setoption name MultiPV value ${lines}`,
    "setoption name UCI_Chess960 value true",
  ];
  engine.stdin.write(
    [...setup, `position fen ${fen}`, `go nodes ${nodes}`, ""].join("\n"),
  );
  /** @type {Found[]} */
  let found = [];
  for await (const line of createInterface({ input: engine.stdout })) {
    const [, depth, rank, score, bound, count, pv] =
      /^info depth (\d+) .*?multipv (\d+) score (\w+ -?\d+)( \w+bound)? nodes (\d+) .*?pv (.*)$/.exec(
        line,
      ) ?? [];
    if (rank === "1") found = [];
    // The native program reports an unfinished iteration with the depth of the previous iteration.
    if (rank)
      found.push({
        depth: Number(depth) - (bound ? 1 : 0),
        nodes: Number(count),
        score: String(score),
        pv: String(pv),
      });
    if (line.startsWith("bestmove")) break;
  }
  engine.stdin.end("quit\n");
  await once(engine, "exit");
  return found;
}

/** @type {Awaited<ReturnType<typeof openEngine>>} */
let engine;
before(async () => void (engine = await openEngine({ workers: 2 })));
after(() => engine.close());

for (const [name, fen, lines] of /** @type {const} */ ([
  ["the starting position", START, 1],
  ["many captures", KIWIPETE, 1],
  ["Black to move, an endgame", ENDGAME, 1],
  ["Chess960", CASTLING, 1],
  ["three lines", KIWIPETE, 3],
])) {
  test(`the same results with the same nodes as natively: ${name}`, async (t) => {
    const fresh = await openEngine();
    t.after(() => fresh.close());
    const nodes = 150_000;
    const [expected, found] = await Promise.all([
      natively(fen, nodes, lines),
      fresh.analyse(fen, { nodes, multiPv: lines, castling: "chess960" }),
    ]);
    assert.equal(found.pvs.length, lines);
    const sign = fen.includes(" b ") ? -1 : 1;
    const here = found.pvs.map(({ cp, mate, uci }) => ({
      score:
        cp === undefined
          ? `mate ${sign * Number(mate)}`
          : `cp ${sign * cp + 0}`,
      pv: uci.join(" "),
    }));
    assert.deepEqual(
      here,
      expected.map(({ score, pv }) => ({ score, pv })),
    );
    assert.deepEqual(
      [found.depth, found.nodes],
      [Math.min(...expected.map(({ depth }) => depth)), expected.at(-1)?.nodes],
    );
  });
}

test("an answer has the shape of a database's evaluation, from White's point of view, and names its origin", async () => {
  const found = await engine.analyse("6k1/5ppp/8/8/8/8/5PPP/r3R1K1 b - - 0 1", {
    depth: 5,
    san: true,
  });
  const [pv] = found.pvs;
  assert.deepEqual(
    [found.from, found.fen],
    ["engine", "6k1/5ppp/8/8/8/8/5PPP/r3R1K1 b - -"],
  );
  assert.equal(found.depth, 5);
  assert.deepEqual([pv.mate, pv.cp, pv.score], [-1, undefined, "#-1"]);
  assert.deepEqual([pv.uci[0], pv.san?.[0]], ["a1e1", "Rxe1#"]);
  assert.equal(found.knodes, Math.round(found.nodes / 1000));
  assert.ok(found.milliseconds > 0 && found.deepest >= found.depth);
});

test("each iteration is reported, with the best line first", async () => {
  /** @type {import("shelfish/engine").EngineEvaluation[]} */
  const told = [];
  const found = await engine.analyse(KIWIPETE, {
    depth: 6,
    multiPv: 3,
    onInfo: (info) => void told.push(info),
  });
  assert.deepEqual(
    told.map(({ depth }) => depth),
    [1, 2, 3, 4, 5, 6],
  );
  assert.ok(told.every(({ pvs }) => pvs.length === 3));
  assert.deepEqual(found.pvs, told.at(-1)?.pvs);
  const scores = found.pvs.map(({ cp }) => Number(cp));
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
});

test("the engine knows the moves that were played, and their repetitions", async () => {
  const moves = ["g1f3", "g8f6", "f3g1", "f6g8"];
  assert.equal(
    (await engine.analyse(START, { depth: 2, moves })).fen,
    START.slice(0, -4),
  );
  // The knight's return is the third repetition.
  const found = await engine.analyse(START, {
    depth: 4,
    moves: [...moves, ...moves.slice(0, 3)],
    searchMoves: ["f6g8"],
  });
  assert.deepEqual([found.pvs[0].uci, found.pvs[0].cp], [["f6g8"], 0]);
});

test("a weaker player searches less, chooses by the seed, and finds a mate in one", async () => {
  const chosen = async (/** @type {number} */ seed) => {
    const found = await engine.analyse(START, { elo: 1000, seed });
    assert.ok(found.nodes <= 2_400, `${found.nodes} nodes`);
    assert.ok(
      found.pvs.some(
        (pv) => pv === found.chosen || pv.uci[0] === found.chosen?.uci[0],
      ),
    );
    return found.chosen?.uci[0];
  };
  const seeds = Array.from({ length: 20 }, (_, n) => n);
  const first = await Promise.all(seeds.map(chosen));
  assert.deepEqual(await Promise.all(seeds.map(chosen)), first);
  assert.ok(new Set(first).size > 1, first.join(" "));
  const mate = await engine.analyse("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", {
    elo: 800,
  });
  assert.deepEqual([mate.chosen?.mate, mate.chosen?.uci], [1, ["a1a8"]]);
  assert.equal((await engine.analyse(START, { depth: 2 })).chosen, undefined);
});

test("a search without limits continues until it is aborted, and returns its last iteration", async () => {
  const abort = new AbortController();
  /** @type {import("shelfish/engine").EngineEvaluation | undefined} */
  let last;
  const found = await engine.analyse(KIWIPETE, {
    signal: abort.signal,
    onInfo: (info) => {
      last = info;
      if (info.depth === 9) abort.abort(new Error("enough"));
    },
  });
  assert.equal(last?.depth, 9);
  assert.ok(
    found.depth >= 9 && found.pvs[0].uci.length > 0,
    `depth ${found.depth}`,
  );
  // The search may end an iteration whose first bound was reported.
  if (found.nodes === last.nodes) assert.deepEqual(found.pvs, last.pvs);
  // Aborted before the search begins, there is no result.
  await assert.rejects(engine.analyse(KIWIPETE, { signal: abort.signal }), {
    code: "aborted",
  });
});

test("a search with a limit rejects if it is aborted", async () => {
  const abort = new AbortController();
  const searching = engine.analyse(KIWIPETE, {
    depth: 60,
    signal: abort.signal,
    onInfo: ({ depth }) => depth === 8 && abort.abort(new Error("enough")),
  });
  await assert.rejects(searching, (error) => {
    assert.ok(error instanceof ShelfishError);
    assert.deepEqual(
      [error.code, error.name, /** @type {Error} */ (error.cause).message],
      ["aborted", "AbortError", "enough"],
    );
    return true;
  });
});

test("a finished game and an invalid position are errors", async () => {
  for (const [fen, expected] of [
    ["nonsense", { code: "fen" }],
    ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", { code: "over", outcome: "checkmate" }],
    ["7k/8/6QK/8/8/8/8/8 b - - 0 1", { code: "over", outcome: "stalemate" }],
  ])
    await assert.rejects(
      engine.analyse(String(fen), { depth: 2 }),
      /** @type {object} */ (expected),
    );
});

test("a closed engine is an error, and the error of a Worker without a script contains advice", async () => {
  const other = await openEngine();
  const searching = other.analyse(START);
  other.close();
  other.close();
  await assert.rejects(searching, { code: "closed" });
  await assert.rejects(other.analyse(START, { depth: 1 }), { code: "closed" });
  const broken = await openEngine({
    worker: () => {
      throw new TypeError("no such script");
    },
  });
  await assert.rejects(broken.analyse(START, { depth: 1 }), {
    code: "network",
    message:
      /no such script; pass openEngine\(\{ worker: .*type: "module".*engine-worker\.js/,
  });
});
