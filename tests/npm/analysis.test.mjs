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
const { knownEval, openAnalysis } = await import(at("analysis-inline.js"));
const analysis = await openAnalysis();

const MATE =
  "1. f3 { Hm. [%clk 0:03:00] } 1... e5 2. g4 ( 2. e4 { better } ) 2... Qh4# 0-1";
/** @type {(import("shelfish/analysis").KnownEval | null)[]} */
const EVALUATIONS = [
  { cp: 20, depth: 30, line: ["e2e4", "e7e5"] },
  { cp: -90, depth: 28, line: ["e7e5"] },
  { cp: -80, depth: 28, line: ["d2d4", "e5d4"] },
  { mate: -1, depth: 99 },
  null,
];

test("a report contains the figures of a game", () => {
  const { moves, evaluations } = analysis.read(MATE);
  assert.deepEqual(evaluations, Array(5).fill(null));
  const report = analysis.report({ moves, evaluations: EVALUATIONS });
  assert.deepEqual(
    report.moves.map(({ san, judgment, best }) => [san, judgment, best]),
    [
      ["f3", "mistake", "e2e4"],
      ["e5", null, null],
      ["g4", "blunder", "d2d4"],
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
    { cp: -90, depth: 28, from: "pgn" },
    { cp: -80, depth: 28, from: "pgn" },
    { mate: -1, depth: 99, from: "pgn" },
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

test("an answer of a database is an evaluation, and a missing answer is a gap", async (t) => {
  /** @type {typeof import("shelfish")} */
  const { openDatabase } = await import(at("node.js"));
  const database = await openDatabase(join(ROOT, "tests/data/database/db"));
  t.after(() => database.close());
  const { positions } = analysis.read(MATE);
  const answers = await database.lookupMany(positions);
  const evaluations = answers.map(knownEval);
  assert.equal(evaluations.length, 5);
  assert.deepEqual(evaluations[0], {
    cp: 36,
    mate: undefined,
    depth: 20,
    knodes: 575,
    from: "database",
    line: answers[0] && "best" in answers[0] && answers[0].best.pvs[0].uci,
  });
  assert.equal(evaluations[4], null);
  assert.deepEqual([knownEval(null), knownEval(undefined)], [null, null]);
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
