// `shelfish/uci`: a Worker that replaces `stockfish.js`. Pages send commands and receive lines of UCI.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";

const KIWIPETE =
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/** A won ending of four pieces. */
const WON = "8/8/8/8/5k2/8/8/KQ5r w - - 0 1";
const DATABASE = "/pkg/uci.js?database=/db/manifest.json";

/**
 * Runs in a page: sends groups of commands to a Worker. After each group, waits for a line that begins with the last word of the group.
 * Returns the lines of each group.
 * @param {readonly [script: string, type: WorkerType, groups: readonly (readonly [commands: readonly string[], end: string])[]]} told
 * @returns {Promise<string[][]>}
 */
const converse = async ([script, type, groups]) => {
  const worker = new Worker(script, { type });
  /** @type {string[]} */
  let lines = [];
  /** @type {(line: string) => void} */
  let arrived = () => {};
  const failed = new Promise((_, reject) =>
    worker.addEventListener("error", (event) =>
      reject(new Error(event.message || "no Worker")),
    ),
  );
  worker.onmessage = ({ data }) => (lines.push(data), arrived(data));
  const all = [];
  for (const [commands, end] of groups) {
    lines = [];
    const ended = new Promise(
      (resolve) => (arrived = (line) => line.startsWith(end) && resolve(line)),
    );
    for (const command of commands) worker.postMessage(command);
    await Promise.race([ended, failed]);
    all.push(lines);
  }
  worker.terminate();
  return all;
};

/** @typedef {Parameters<typeof converse>[0][2]} Groups */

/** Asks in Chromium. Returns the lines of each group. */
async function ask(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {Groups} */ groups,
  script = "/pkg/uci.js",
  type = /** @type {WorkerType} */ ("classic"),
) {
  const page = await shelf.page(t);
  return page.evaluate(converse, /** @type {const} */ ([script, type, groups]));
}

for (const type of /** @type {const} */ (["classic", "module"])) {
  test(`a ${type} script answers the commands of a board`, async (t) => {
    const [about, ready, lines] = await ask(
      t,
      [
        [["uci"], "uciok"],
        [["isready"], "readyok"],
        [["ucinewgame", `position fen ${KIWIPETE}`, "go depth 9"], "bestmove"],
      ],
      "/pkg/uci.js",
      type,
    );
    assert.ok(
      about?.[0]?.startsWith("id name Shelfish") &&
        about.some((line) =>
          line.startsWith("option name EvalDatabase type string"),
        ),
    );
    assert.deepEqual(ready, ["readyok"]);
    const info =
      /^info depth (\d+) seldepth \d+ multipv 1 score cp -?\d+ nodes \d+ nps \d+ time \d+ pv (\S+)( \S+)*$/;
    const infos = lines?.slice(0, -1).map((line) => info.exec(line));
    assert.deepEqual(
      infos?.map((match) => match?.[1]),
      ["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    );
    assert.match(
      String(lines?.at(-1)),
      new RegExp(`^bestmove ${infos?.at(-1)?.[2]} ponder \\S+$`),
    );
  });
}

test("the database of the URL answers within the limits without a search, and the engine answers otherwise", async (t) => {
  const [known, ...searched] = await ask(
    t,
    [
      [["position startpos", "go depth 99 nodes 1e12"], "bestmove"],
      [["go depth 2"], "bestmove"],
      [["go nodes 500"], "bestmove"],
      [[`position fen ${KIWIPETE}`, "go depth 6"], "bestmove"],
    ],
    DATABASE,
  );
  assert.equal(known?.[0], "info string from the database");
  assert.match(
    String(known?.[1]),
    /^info depth \d\d seldepth \d\d multipv 1 score cp -?\d+ nodes \d+ nps 0 time 0 pv \S+/,
  );
  for (const lines of searched)
    assert.ok(
      lines[0]?.startsWith("info depth 1 ") &&
        lines.at(-1)?.startsWith("bestmove "),
      lines.join("\n"),
    );
});

test("a limit with any value is a limit, and a number that cannot be read is named", async (t) => {
  const limits = [
    "movetime 33.3",
    "wtime 300.5",
    "btime 300",
    "winc 1e1",
    "movestogo 40",
    "depth 4.0",
    "depth 1e99 movetime 5",
    "nodes 1e3",
    "nodes -5",
    "mate 1",
    "depth",
    "mate x",
    "movetime x depth 99",
  ];
  const all = await ask(
    t,
    limits.map((limit) => [[`go ${limit}`], "bestmove"]),
  );
  for (const [index, lines] of all.entries()) {
    const errors = lines.filter((line) => line.includes("expected a number"));
    assert.equal(errors.length, Number(index > 9), lines.join("\n"));
  }
  assert.equal(
    all.at(-1)?.[0],
    'info string go movetime: expected a number, found "x"; 0 is used',
  );
});

test("illegal moves are named and left out, a finished game has a score, an invalid position no move", async (t) => {
  const [prefix, chosen, mate, stalemate, invalid] = await ask(t, [
    [["position startpos moves e2e4 e7e5 e4e5 g1f3", "go depth 1"], "bestmove"],
    [["go depth 1 searchmoves h2h5 a2a3 e1g1"], "bestmove"],
    [["position startpos moves f2f3 e7e5 g2g4 d8h4", "go depth 5"], "bestmove"],
    [["position fen k7/2Q5/1K6/8/8/8/8/8 b - - 0 1", "go depth 1"], "bestmove"],
    [["position fen 8/8/8/8/8/8/8/8 w - - 0 1", "go depth 2"], "bestmove"],
  ]);
  assert.match(String(prefix?.[0]), /^info string .*found e4e5/);
  assert.match(String(prefix?.at(-1)), /^bestmove [a-h][12]/);
  assert.match(String(chosen?.[0]), /found h2h5/);
  assert.match(String(chosen?.[1]), /found e1g1/);
  assert.match(String(chosen?.at(-1)), /^bestmove a2a3/);
  assert.deepEqual(mate, ["info depth 0 score mate 0", "bestmove (none)"]);
  assert.deepEqual(stalemate, ["info depth 0 score cp 0", "bestmove (none)"]);
  assert.deepEqual(invalid?.slice(-1), ["bestmove (none)"]);
  assert.match(String(invalid?.at(-2)), /^info string position: .*empty/);
});

test("options set lines, strength and castling; errors name the option and the expected value", async (t) => {
  const chess960 = "4k3/8/8/8/8/8/8/4KR2 w F - 0 1";
  const [several, weak, castling, errors] = await ask(t, [
    [
      [
        "setoption name MultiPV value 3",
        `position fen ${KIWIPETE}`,
        "go depth 6",
      ],
      "bestmove",
    ],
    [
      [
        "setoption name MultiPV value 1",
        "setoption name UCI_LimitStrength value true",
        "setoption name uci_elo value 900",
        "go movetime 2000",
      ],
      "bestmove",
    ],
    [
      [
        "setoption name UCI_LimitStrength value false",
        "setoption name UCI_Chess960 value true",
        `position fen ${chess960}`,
        "go depth 1 searchmoves e1f1",
      ],
      "bestmove",
    ],
    [
      [
        "setoption name Hash value 0",
        "setoption name Contempt value 1",
        "hello",
        "isready",
      ],
      "readyok",
    ],
  ]);
  assert.deepEqual(
    several?.slice(-4, -1).map((line) => /multipv (\d)/.exec(line)?.[1]),
    ["1", "2", "3"],
  );
  assert.match(String(weak?.at(-1)), /^bestmove [a-h][1-8][a-h][1-8]/);
  assert.match(String(castling?.at(-1)), /^bestmove e1f1/);
  const [hash, contempt, unknown] = errors ?? [];
  assert.equal(
    hash,
    'info string option Hash: expected a number from 1 to 256, found "0"',
  );
  assert.match(String(contempt), /^info string there is no option "Contempt"/);
  assert.equal(unknown, "Unknown command: 'hello'.");
});

test("endgame tables answer before the engine", async (t) => {
  const [won, quiet] = await ask(
    t,
    [
      [[`position fen ${WON}`, "go depth 8"], "bestmove"],
      [["position startpos", "go depth 2"], "bestmove"],
    ],
    "/pkg/uci.js?endgames=/site/endgames/endgames.index",
  );
  assert.equal(won?.[0], "info string from the endgame tables, win");
  assert.match(
    String(won?.[1]),
    /^info depth 1 seldepth 1 multipv 1 score cp 20000 nodes 0 nps 0 tbhits 1 time 0 pv \S+$/,
  );
  assert.ok(
    won?.[2]?.startsWith("bestmove ") &&
      !quiet?.some((line) => line.includes("tables")),
  );
});
