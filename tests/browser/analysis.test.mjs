// `shelfish/analysis` in a browser: the first use loads its module.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { SHELFISH } from "./support/paths.mjs";

test("a report of a game uses the answers of a database and takes one request for the module", async (t) => {
  const page = await shelf.page(t);
  const report = await page.evaluate(async () => {
    const entry = "/pkg/analysis.js";
    /** @type {typeof import("shelfish/analysis")} */
    const { openAnalysis } = await import(entry);
    const analysis = await openAnalysis();
    const { moves, positions } = analysis.read(
      "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *",
    );
    const database = await shelfish.openDatabase("db/manifest.json");
    const evaluations = await database.lookupMany(positions);
    database.close();
    return analysis.report({ moves, evaluations });
  });
  const modules = (await shelf.server.requests()).filter(({ path }) =>
    path.endsWith("analysis_bg.wasm"),
  );
  assert.equal(modules.length, 1);
  assert.deepEqual(
    [report.moves.map(({ san }) => san), report.known],
    [["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"], 7],
  );
  for (const { judged, accuracy, blunders } of [report.white, report.black]) {
    assert.deepEqual([judged, blunders], [3, 0]);
    assert.ok(accuracy && accuracy > 85, String(accuracy));
  }
});

/** A game with mistakes in its opening and a lost queen. */
const GAME =
  "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Qg5 5. Nxg5 h6 6. Nf3 Nf6 7. d4 exd4 8. cxd4 Bb4+ 9. Nc3 Nxe4 10. O-O *";

test("a report by the engine is the report of the terminal, with any number of Workers, and is stored", async (t) => {
  const page = await shelf.page(t);
  const run = (
    /** @type {number} */ workers,
    /** @type {boolean} */ isStored,
  ) =>
    page.evaluate(async ([pgn, workers, isStored]) => {
      const [analysisEntry, engineEntry] = [
        "/pkg/analysis.js",
        "/pkg/engine.js",
      ];
      /** @type {typeof import("shelfish/analysis")} */
      const { openAnalysis } = await import(analysisEntry);
      /** @type {typeof import("shelfish/engine")} */
      const { openEngine } = await import(engineEntry);
      let sequences = 0;
      const passes = new Set();
      const engine = await openEngine({ workers });
      const counted = {
        name: engine.name,
        analyseSequence: (
          /** @type {Parameters<typeof engine.analyseSequence>} */ ...args
        ) => (sequences++, engine.analyseSequence(...args)),
      };
      const { report, evaluations } = await (
        await openAnalysis()
      ).analyseGame(pgn, {
        ...{ engine: counted, nodes: 20_000, indexedDB: isStored },
        onProgress: ({ pass }) => passes.add(pass),
      });
      engine.close();
      return { report, evaluations, sequences, passes: [...passes] };
    }, /** @type {const} */ ([GAME, workers, isStored]));
  const [single, double] = [await run(1, false), await run(2, true)];
  assert.deepEqual(double.report, single.report);
  assert.ok(single.sequences > 3 && single.report.settled);
  assert.deepEqual(single.passes.slice(0, 3), [0, 1, 2]);
  assert.equal(single.report.black.blunders, 1);
  const again = await run(2, true);
  assert.deepEqual(
    [again.report, again.sequences],
    [single.report, 0],
    "the stored results are used",
  );

  const args = [
    "analyse",
    "-",
    "--engine",
    "--nodes",
    "20000",
    "--json",
    "--quiet",
  ];
  const { evaluations, moves, ...terminal } = JSON.parse(
    execFileSync(SHELFISH, args, { input: GAME, encoding: "utf8" }),
  );
  const { moves: ofPage, ...report } = single.report;
  assert.deepEqual(
    moves.map((/** @type {{ uci: string }} */ { uci, ...move }) => move),
    ofPage.map((move) => ({ ...move, best: move.best?.uci ?? null })),
  );
  assert.deepEqual({ ...terminal, ...report }, terminal);
  const shown = single.evaluations.map((found) => {
    const { from: source, pvs, ...rest } = found ?? assert.fail();
    const [{ score, uci, ...best }, other] = pvs;
    const second = other && { cp: other.cp, mate: other.mate };
    const line = uci.join(" ");
    return { ...rest, ...best, line, source, ...(second && { second }) };
  });
  assert.deepEqual(JSON.parse(JSON.stringify(shown)), evaluations);
});

test("an abort ends the analysis of a game", async (t) => {
  const page = await shelf.page(t);
  const code = await page.evaluate(async (pgn) => {
    const [analysisEntry, engineEntry] = ["/pkg/analysis.js", "/pkg/engine.js"];
    const { openAnalysis } = await import(analysisEntry);
    const { openEngine } = await import(engineEntry);
    const abort = new AbortController();
    const engine = await openEngine();
    const onProgress = (/** @type {{ done: number }} */ { done }) =>
      done === 3 && abort.abort();
    try {
      await (
        await openAnalysis()
      ).analyseGame(pgn, {
        engine,
        indexedDB: false,
        onProgress,
        signal: abort.signal,
      });
      return "settled";
    } catch (error) {
      // The engine is free again.
      await engine.analyse("8/8/4k3/8/8/4K3/4P3/8 w - -", { depth: 1 });
      return /** @type {{ code: string }} */ (error).code;
    } finally {
      engine.close();
    }
  }, GAME);
  assert.equal(code, "aborted");
});
