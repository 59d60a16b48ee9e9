// `shelfish/analysis` in Node: a report from a database's answers, annotated PGN, and errors for wrong arguments.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish/analysis")} */
const { openAnalysis } = await import(at("analysis-inline.js"));
const analysis = await openAnalysis();

const MATE =
  "1. f3 { Hm. [%clk 0:03:00] } 1... e5 2. g4 ( 2. e4 { better } ) 2... Qh4# 0-1";
/** @type {(import("shelfish/analysis").KnownEval | null)[]} */
const EVALUATIONS = [
  { depth: 30, pvs: [{ cp: 20, uci: ["e2e4", "e7e5"] }] },
  { depth: 28, pvs: [{ cp: -90, uci: ["e7e5"] }] },
  { depth: 28, pvs: [{ cp: -80, uci: ["d2d4", "e5d4"] }] },
  { depth: 99, pvs: [{ mate: -1 }] },
  null,
];

test("a report contains the figures of a game", () => {
  const { moves, evaluations } = analysis.read(MATE);
  assert.deepEqual(evaluations, Array(5).fill(null));
  const report = analysis.report({ moves, evaluations: EVALUATIONS });
  assert.deepEqual(
    report.moves.map(({ san, judgment, best }) => [san, judgment, best]),
    [
      ["f3", "mistake", { uci: "e2e4", san: "e4" }],
      ["e5", null, null],
      ["g4", "blunder", { uci: "d2d4", san: "d4" }],
      ["Qh4#", null, null],
    ],
  );
  assert.deepEqual(
    [report.positions, report.known, report.phases],
    [5, 5, { middlegame: null, endgame: null }],
  );
  const { accuracy, mistakes, blunders, averageCentipawnLoss } = report.white;
  assert.deepEqual([mistakes, blunders, averageCentipawnLoss], [1, 1, 515]);
  assert.ok(accuracy && accuracy > 20 && accuracy < 40);
});

test("an annotated PGN keeps its comments", () => {
  const annotated = analysis.annotate(MATE, EVALUATIONS);
  const expected =
    "{ [%eval 0.20,30] } 1. f3 $2 { [%eval -0.90,28] Hm. [%clk 0:03:00] } ( 1. e4 e5 ) 1... e5 { [%eval -0.80,28] } " +
    "2. g4 $4 { [%eval #-1,99] } { Allows mate in 1. } ( 2. e4 { better } ) ( 2. d4 exd4 ) 2... Qh4# 0-1\n";
  assert.equal(annotated, expected);
  assert.equal(analysis.annotate(annotated, EVALUATIONS), expected);
  assert.deepEqual(analysis.read(annotated).evaluations.slice(1, 4), [
    { from: "pgn", depth: 28, pvs: [{ cp: -90, score: "-0.90", uci: [] }] },
    { from: "pgn", depth: 28, pvs: [{ cp: -80, score: "-0.80", uci: [] }] },
    { from: "pgn", depth: 99, pvs: [{ mate: -1, score: "#-1", uci: [] }] },
  ]);
});

test("the files of the table are read as in Rust", () => {
  const folder = join(ROOT, "tests/data/pgn");
  const rows = readFileSync(join(folder, "cases.tsv"), "utf8").split("\n");
  for (const row of rows.filter((row) => row && !row.startsWith("#"))) {
    const [name, expected = ""] = row.split("\t");
    const file = readFileSync(join(folder, `${name}.pgn`));
    const games = [...analysis.readGames(file)].map((game) => {
      const { tree, result, error, skipped } = game;
      const moves =
        tree.length > 40
          ? `${tree.length} moves`
          : tree.map(({ san }) => san).join(" ");
      const counts = ["tag lines", "words", "variations"].map((kind, n) =>
        skipped[n] ? `[${skipped[n]} ${kind} skipped]` : "",
      );
      const parts = [moves, result, error && `! ${error}`, ...counts];
      return parts.filter(Boolean).join(" ");
    });
    assert.equal(games.join("; "), expected, name);
  }
});

test("answers of a database, of tables and of the engine are evaluations, of one shape", async (t) => {
  /** @type {typeof import("shelfish")} */
  const { openDatabase } = await import(at("node.js"));
  /** @type {typeof import("shelfish/engine")} */
  const { openEngine, openEvaluator } = await import(at("engine-inline.js"));
  /** @type {typeof import("shelfish/endgames")} */
  const { openEndgames } = await import(at("endgames-node.js"));
  const database = await openDatabase(join(ROOT, "tests/data/database/db"));
  const endgames = await openEndgames(join(ROOT, "static-shards/endgames"));
  const engine = await openEngine();
  const evaluator = openEvaluator({ engine });
  t.after(() =>
    [evaluator, engine, database, endgames].map((open) => open.close()),
  );
  const game = analysis.read(MATE);
  const answers = await database.lookupMany(game.positions);
  const [start = "", ...rest] = game.positions;
  const ending = "8/8/8/4k3/8/8/8/2B1KN2 w - -";
  const found = [
    answers[0],
    await engine.analyse(start, { depth: 4 }),
    await evaluator.evaluate(start, { depth: 4 }),
    await endgames.probe(ending),
    (
      await analysis.analyseGame(
        { moves: [], positions: [start], evaluations: [] },
        { database },
      )
    ).evaluations[0],
  ];
  for (const answer of found) {
    assert.ok(answer && "pvs" in answer);
    const [pv] = answer.pvs;
    assert.deepEqual(
      [typeof answer.from, typeof answer.depth, typeof answer.knodes],
      ["string", "number", "number"],
    );
    assert.deepEqual([typeof pv?.score, typeof pv?.cp], ["string", "number"]);
    assert.match(String(pv?.uci[0]), /^[a-h][1-8][a-h][1-8]$/);
  }
  // What was answered is given to the report as it is: the error of the last position is a gap.
  const report = analysis.report({ moves: game.moves, evaluations: answers });
  assert.equal(report.known, answers.filter((one) => one).length);
  assert.equal(rest.length, 4);
});

test("castling has the requested notation in games, lines and typed moves", () => {
  const pgn = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O";
  const fen = analysis.read(pgn).positions.at(-2) ?? "";
  for (const [options, uci] of /** @type {const} */ ([
    [undefined, "e1g1"],
    [{ castling: "standard" }, "e1g1"],
    [{ castling: "chess960" }, "e1h1"],
  ])) {
    const { moves, tree } = analysis.read(pgn, options);
    const [game] = analysis.readGames(pgn, options);
    const typed = analysis.findMove(fen, "O-O", options);
    const found = [moves.at(-1), tree.at(-1)?.uci, game?.moves.at(-1), typed];
    assert.deepEqual(found, Array(4).fill(uci));
  }
});

test("the progress counts positions from 0 to their number, in each pass", async () => {
  /** @type {string[]} */
  const steps = [];
  const database = { lookupMany: async () => Array(5).fill(null) };
  await analysis.analyseGame(MATE, {
    database,
    engine: true,
    nodes: 500,
    onProgress: ({ pass, passes, done, of }) =>
      void steps.push(`${pass}/${passes} ${done}/${of}`),
  });
  assert.deepEqual(steps.slice(0, 2), ["0/6 0/5", "0/6 5/5"]);
  assert.match(String(steps[2]), /^1\/6 [01]\/[1-5]$/);
});

test("the module is loaded once from `wasm`, and the error of a failed load contains advice", async () => {
  const bytes = readFileSync(join(PACKAGE, "shelfish_analysis_bg.wasm"));
  for (const [n, wasm] of [
    bytes,
    pathToFileURL(join(PACKAGE, "shelfish_analysis_bg.wasm")),
    undefined,
  ].entries()) {
    const fresh = await import(`${at("analysis.js")}?${n}`);
    const [one, other] = await Promise.all([
      fresh.openAnalysis({ wasm }),
      fresh.openAnalysis({ wasm: 7 }),
    ]);
    assert.deepEqual(one.read("1. e4").moves, other.read("1. e4").moves);
  }
  const fresh = await import(`${at("analysis.js")}?failing`);
  const message = /WASM module cannot be loaded.*openAnalysis\(\{ wasm \}\)/;
  await assert.rejects(
    fresh.openAnalysis({ wasm: "http://127.0.0.1:1/a.wasm" }),
    message,
  );
  assert.ok(await fresh.openAnalysis());
  await assert.rejects(openAnalysis({ signal: AbortSignal.abort() }), {
    code: "aborted",
  });
});
