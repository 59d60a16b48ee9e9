// `shelfish/analysis` in a browser: the first use loads its module.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

test("a report of a game uses the answers of a database and takes one request for the module", async (t) => {
  const page = await shelf.page(t);
  const report = await page.evaluate(async () => {
    const entry = "/pkg/analysis.js";
    /** @type {typeof import("shelfish/analysis")} */
    const { knownEval, openAnalysis } = await import(entry);
    const analysis = await openAnalysis();
    const { moves, positions } = analysis.read("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *");
    const database = await shelfish.openDatabase("db/manifest.json");
    const evaluations = (await database.lookupMany(positions)).map(knownEval);
    database.close();
    return analysis.report({ moves, evaluations });
  });
  const modules = (await shelf.server.requests()).filter(({ path }) => path.endsWith("analysis_bg.wasm"));
  assert.equal(modules.length, 1);
  assert.deepEqual([report.moves.map(({ san }) => san), report.known], [["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"], 7]);
  for (const { judged, accuracy, blunders } of [report.white, report.black]) {
    assert.deepEqual([judged, blunders], [3, 0]);
    assert.ok(accuracy && accuracy > 85, String(accuracy));
  }
});

test("a page that only looks positions up does not load the analysis", async (t) => {
  const page = await shelf.page(t);
  await page.evaluate(async () => (await shelfish.openDatabase("db/manifest.json")).close());
  assert.ok((await shelf.server.requests()).every(({ path }) => !path.includes("analysis")));
});
