// `shelfish/engine` in a browser: Workers without SharedArrayBuffer, which can be stopped during a search.
import assert from "node:assert/strict";
import { test } from "node:test";
import { START } from "./support/chromium.mjs";
import * as shelf from "./support/shelf.mjs";

const KIWIPETE =
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/** @typedef {typeof import("shelfish/engine")} Entry */

test("a Worker searches a position, and the page is not isolated", async (t) => {
  const page = await shelf.page(t);
  const { isolated, found, told } = await page.evaluate(async (fen) => {
    const entry = "/pkg/engine.js";
    /** @type {Entry} */
    const { openEngine } = await import(entry);
    const engine = await openEngine();
    /** @type {number[]} */
    const told = [];
    const found = await engine.analyse(fen, {
      nodes: 60_000,
      san: true,
      onInfo: ({ depth }) => void told.push(depth),
    });
    engine.close();
    return { isolated: crossOriginIsolated, found, told };
  }, KIWIPETE);
  assert.equal(isolated, false);
  const [{ uci, san }] = found.pvs;
  assert.deepEqual(
    [found.from, found.fen, san?.length],
    ["engine", KIWIPETE.slice(0, -4), uci.length],
  );
  assert.ok(
    { e2a6: "Bxa6", d5e6: "dxe6" }[uci[0] ?? ""] === san?.[0],
    `${uci[0]} ${san?.[0]}`,
  );
  assert.ok(told.length > 5 && found.nodes <= 60_000);
  const modules = (await shelf.server.requests())
    .filter(({ path }) => path.endsWith(".wasm"))
    .map(({ path }) => path);
  assert.deepEqual(modules, ["/pkg/shelfish_engine_bg.wasm"]);
});

/**
 * Runs in a page: aborts searches at a depth. Returns by how many milliseconds each abort delays the next answer of the Worker,
 * sorted. The same question is asked without an abort for comparison, because messages take longer on a busy machine.
 * @param {readonly [fen: string, depth: number, rounds: number]} told
 */
const stops = async ([fen, stop, rounds]) => {
  const entry = "/pkg/engine.js";
  /** @type {Entry} */
  const { openEngine } = await import(entry);
  const engine = await openEngine();
  const times = [];
  for (let n = 0; n < rounds; n++) {
    const abort = new AbortController();
    await new Promise((deep) => {
      engine
        .analyse(fen, {
          signal: abort.signal,
          onInfo: ({ depth }) => depth === stop && deep(undefined),
        })
        .catch(() => {});
    });
    const start = performance.now();
    abort.abort();
    // The Worker begins the next search after it has stopped the aborted one.
    await engine.analyse(fen, { nodes: 1 });
    const aborted = performance.now();
    await engine.analyse(fen, { nodes: 1 });
    times.push(aborted - start - (performance.now() - aborted));
  }
  engine.close();
  return times.sort((a, b) => a - b);
};

test("an aborted search delays the next search of its Worker by less than 50 ms", async (t) => {
  const page = await shelf.page(t);
  const times = await page.evaluate(
    stops,
    /** @type {const} */ ([KIWIPETE, 10, 15]),
  );
  assert.ok(Number(times[7]) < 50, String(times.map(Math.round)));
  t.diagnostic(
    `median ${times[7]?.toFixed(1)} ms, most ${times[14]?.toFixed(1)} ms`,
  );
});

test("the error of a missing Worker script names a remedy", async (t) => {
  const page = await shelf.page(t, { allow: /404|Failed to load/ });
  const message = await page.evaluate(async (fen) => {
    const entry = "/pkg/engine.js";
    /** @type {Entry} */
    const { openEngine } = await import(entry);
    const engine = await openEngine({
      worker: () => new Worker("/nowhere.js", { type: "module" }),
    });
    return engine
      .analyse(fen, { depth: 1 })
      .catch((error) => `${error.code}: ${error.message}`);
  }, START);
  assert.match(
    String(message),
    /^network: .*openEngine\(\{ worker: .*"module"/,
  );
});

test("an evaluator asks the database first, then loads the engine", async (t) => {
  const page = await shelf.page(t);
  const result = await page.evaluate(async ([known, unknown]) => {
    const entry = "/pkg/engine.js";
    /** @type {Entry} */
    const { openEngine, openEvaluator } = await import(entry);
    const database = await shelfish.openDatabase("db/manifest.json");
    let loads = 0;
    const engine = () => (loads++, openEngine());
    const evaluator = openEvaluator({ database, engine });
    const first = await evaluator.evaluate(known);
    const before = loads;
    const second = await evaluator.evaluate(unknown, { depth: 9 });
    evaluator.close();
    database.close();
    return { first, second, before };
  }, /** @type {const} */ ([START, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"]));
  assert.deepEqual([result.first?.from, result.before], ["database", 0]);
  assert.deepEqual([result.second?.from, result.second?.depth], ["engine", 9]);
});
