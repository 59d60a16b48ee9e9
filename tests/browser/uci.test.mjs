// `shelfish/uci`: a Worker that replaces `stockfish.js`. Pages send commands and receive lines of UCI.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { evaluate, suiteIn } from "./support/engines.mjs";
import { START, lab } from "./support/lab.mjs";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

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

test("the database of the URL answers without a search, and the engine answers other positions", async (t) => {
  const [known, unknown] = await ask(
    t,
    [
      [["position startpos", "go depth 10"], "bestmove"],
      [[`position fen ${KIWIPETE}`, "go depth 6"], "bestmove"],
    ],
    DATABASE,
  );
  assert.equal(known?.[0], "info string from the database");
  assert.match(
    String(known?.[1]),
    /^info depth \d\d seldepth \d\d multipv 1 score cp -?\d+ nodes \d+ time 0 pv \S+/,
  );
  assert.ok(
    !unknown?.some((line) => line.includes("string")) &&
      unknown?.at(-1)?.startsWith("bestmove "),
  );
});

test("scores are from the point of view of the side to move", async (t) => {
  const black = "position startpos moves f2f3 e7e5 g2g4";
  const [mate, loss] = await ask(t, [
    [[black, "go depth 4"], "bestmove"],
    [["position fen 7k/8/6K1/8/8/8/8/R7 b - - 0 1", "go depth 6"], "bestmove"],
  ]);
  assert.match(String(mate?.at(-2)), / score mate 1 .* pv d8h4$/);
  assert.equal(mate?.at(-1), "bestmove d8h4");
  assert.match(String(loss?.at(-2)), / score mate -1 /);
});

test("an infinite search ends with stop, and a stopped search with limits answers with its last line", async (t) => {
  // An iteration that the stop ends can change the best move, so searches are stopped at several depths.
  const groups = ["go infinite", "go depth 60"].flatMap((go) =>
    [4, 5, 6, 7, 8, 9, 10, 11].map((depth) => ({ go, depth })),
  );
  const page = await shelf.page(t);
  const found = await page.evaluate(
    async ({ fen, groups }) => {
      const worker = new Worker("/pkg/uci.js");
      const found = [];
      for (const { go, depth } of groups) {
        /** @type {string[]} */
        const lines = [];
        await new Promise((resolve) => {
          worker.onmessage = ({ data }) => {
            lines.push(data);
            if (data.startsWith(`info depth ${depth} `))
              worker.postMessage("stop");
            if (data.startsWith("bestmove")) resolve(undefined);
          };
          for (const command of ["ucinewgame", `position fen ${fen}`, go])
            worker.postMessage(command);
        });
        found.push(lines.slice(-2));
      }
      worker.terminate();
      return found;
    },
    { fen: KIWIPETE, groups },
  );
  assert.equal(found.length, groups.length);
  for (const [index, [info, answer]] of found.entries()) {
    const [, move] = / pv (\S+)/.exec(String(info)) ?? [];
    assert.ok(
      answer?.startsWith(`bestmove ${move}`),
      `${JSON.stringify(groups[index])}\n${info}\n${answer}`,
    );
  }
});

for (const go of ["go infinite", "go"])
  test(`after \`${go}\` a search of a position of the database continues until stop`, async (t) => {
    const [lines, stopped] = await ask(
      t,
      [
        [["position startpos", go], "info depth 6 "],
        [["isready", "stop"], "bestmove"],
      ],
      DATABASE,
    );
    assert.equal(lines?.[0], "info string from the database");
    assert.equal(stopped?.filter((line) => line === "readyok").length, 1);
  });

test("after ponderhit the search answers within its limits", async (t) => {
  const [, lines] = await ask(t, [
    [
      [`position fen ${KIWIPETE}`, "go ponder wtime 1000 btime 1000"],
      "info depth 5 ",
    ],
    [["ponderhit"], "bestmove"],
  ]);
  assert.ok(lines?.at(-1)?.startsWith("bestmove "));
});

test("options set lines, strength and castling; errors name the option and the expected value", async (t) => {
  const chess960 =
    "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9";
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

test("an invalid position is reported and changes nothing, and a game that is over has no move", async (t) => {
  const [invalid, over] = await ask(t, [
    [
      [
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position startpos moves e2e5",
        "isready",
      ],
      "readyok",
    ],
    [["position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "go depth 3"], "bestmove"],
  ]);
  assert.match(
    String(invalid?.[0]),
    /^info string position: .*the board is empty/,
  );
  assert.match(
    String(invalid?.[1]),
    /^info string position: moves\[0\]: expected a legal move in UCI, found e2e5/,
  );
  assert.deepEqual(over, ["info depth 0 score mate 0", "bestmove (none)"]);
});

test("a search on the clock ends within the remaining time", async (t) => {
  const [lines] = await ask(t, [
    [
      [`position fen ${KIWIPETE}`, "go wtime 3000 btime 1 winc 0 binc 0"],
      "bestmove",
    ],
  ]);
  const times =
    lines?.map((line) => Number(/ time (\d+)/.exec(line)?.[1] ?? 0)) ?? [];
  assert.ok(Math.max(...times) < 3000, String(times));
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
    /^info depth 1 seldepth 1 multipv 1 score cp 20000 nodes 0 tbhits 1 time 0 pv \S+$/,
  );
  assert.ok(
    won?.[2]?.startsWith("bestmove ") &&
      !quiet?.some((line) => line.includes("tables")),
  );
});

test("a database that cannot be read is reported, and the engine answers", async (t) => {
  const page = await shelf.page(t, { allow: /404|Failed to load/ });
  const groups = /** @type {Groups} */ ([
    [["position startpos", "go depth 3"], "bestmove"],
  ]);
  const [lines] = await page.evaluate(
    converse,
    /** @type {const} */ ([
      "/pkg/uci.js?database=/nowhere/manifest.json",
      "classic",
      groups,
    ]),
  );
  assert.match(String(lines?.[0]), /^info string EvalDatabase: .*nowhere/);
  assert.ok(lines?.at(-1)?.startsWith("bestmove "));
});

test("if the engine cannot be loaded, the search answers without a move", async (t) => {
  const page = await shelf.page(t, { allow: /Failed to load/ });
  await page.route("**/shelfish_engine_bg.wasm", (route) => route.abort());
  const groups = /** @type {Groups} */ ([
    [["position startpos", "go depth 3"], "bestmove"],
  ]);
  const [lines] = await page.evaluate(
    converse,
    /** @type {const} */ (["/pkg/uci.js", "classic", groups]),
  );
  assert.ok(
    lines?.every((line) =>
      /^info string .*shelfish_engine_bg\.wasm|^bestmove \(none\)$/.test(line),
    ),
    lines?.join("\n"),
  );
});

suiteIn(["Firefox", "WebKit"], (session) => {
  test("a classic script answers from the database and from the engine", async () => {
    await session.driver.get(shelf.server.url);
    const groups = /** @type {Groups} */ ([
      [["position startpos", "go depth 10"], "bestmove"],
      [[`position fen ${KIWIPETE}`, "go depth 6"], "bestmove"],
    ]);
    const [known, unknown] = await evaluate(
      session.driver,
      converse,
      /** @type {const} */ ([DATABASE, "classic", groups]),
    );
    assert.equal(known?.[0], "info string from the database");
    assert.ok(unknown?.at(-1)?.startsWith("bestmove "), START);
  });
});
