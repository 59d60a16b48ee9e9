// One tab for a long time, with a small cache: memory does not grow, IndexedDB keeps its limit, and no error appears.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";
import { withoutEngine } from "./support/page.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { truth } from "./support/truth.mjs";
import { LIMIT, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const IS_LONG = Boolean(process.env.SHELFISH_LONG);
/** Numbers of lookups, games and reports. */
const [LOOKUPS, GAMES, VISITS] = IS_LONG ? [20_000, 200, 200] : [1_000, 20, 20];
/** Maximum size of the cache in IndexedDB, in bytes. */
const CACHE = 200_000;
const PGNS = readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8").split(/\n(?=\[Event )/);

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Runs in a page before its scripts. Records the memories of all modules. */
function recordMemories() {
  /** @type {WebAssembly.Memory[]} */
  const memories = [];
  Object.assign(globalThis, { memories });
  for (const name of /** @type {const} */ (["instantiate", "instantiateStreaming"])) {
    const original = /** @type {any} */ (WebAssembly[name]);
    Object.assign(WebAssembly, {
      async [name](/** @type {unknown[]} */ ...args) {
        const result = await original.apply(WebAssembly, args);
        for (const value of Object.values((result.instance ?? result).exports)) if (value instanceof WebAssembly.Memory) memories.push(value);
        return result;
      },
    });
  }
}

/**
 * Returns a function that measures the tab: kilobytes of JavaScript after a collection, of the modules and in IndexedDB, and the number
 * of nodes of documents.
 * @param {Page} page
 */
async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  return async () => {
    // A second collection frees what finalizers of the first released.
    for (let n = 0; n < 2; n++) await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    const { nodes } = await session.send("Memory.getDOMCounters");
    const [modules, cache] = await page.evaluate(async () => {
      const done = (/** @type {IDBRequest} */ request) =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      let cache = 0;
      for (const { name } of await indexedDB.databases()) {
        const connection = await done(indexedDB.open(String(name)));
        if (connection.objectStoreNames.contains("bytes")) {
          const values = await done(connection.transaction("bytes").objectStore("bytes").getAll());
          for (const value of values) cache += value.byteLength;
        }
        connection.close();
      }
      const { memories } = /** @type {{ memories: WebAssembly.Memory[] }} */ (/** @type {unknown} */ (globalThis));
      return /** @type {const} */ ([memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0), cache]);
    });
    return { heap: usedSize / 1000, modules: modules / 1000, cache: cache / 1000, nodes };
  };
}

/**
 * Does work in twenty steps and measures the tab after each. Memory may grow in the first tenth only.
 * @param {string} what
 * @param {() => Promise<{ heap: number, modules: number, cache: number, nodes: number }>} measure
 * @param {(step: number) => Promise<void>} work
 */
async function isFlat(what, measure, work) {
  const STEPS = 20;
  const all = [];
  for (let step = 0; step < STEPS; step++) {
    await work(step);
    all.push(await measure());
  }
  const first = all.slice(0, STEPS / 10);
  for (const name of /** @type {const} */ (["heap", "modules", "cache", "nodes"])) {
    const values = all.map((measured) => Math.round(measured[name]));
    console.log(`${what}, ${name}: ${values.join(" ")}`);
    const limit = Math.max(...first.map((measured) => measured[name]));
    const last = Math.max(...all.slice(-STEPS / 2).map((measured) => measured[name]));
    // Code of the page is compiled, and inline caches are filled, at any time. The first tenth of a short run does not reach the usual
    // memory of the modules, which grows by pages of 64 KiB.
    const slack = { heap: 0.1 * limit + 500, modules: IS_LONG ? 0 : 270, cache: Infinity, nodes: 0.1 * limit + 100 }[name];
    assert.ok(last <= limit + slack, `${what}: ${name} grew from ${limit} to ${last}`);
  }
  const cache = Math.max(...all.map((measured) => measured.cache));
  assert.ok(cache <= (1.2 * CACHE) / 1000, `${cache} kB in IndexedDB`);
}

test(`${LOOKUPS} lookups, ${GAMES} games and ${GAMES} reports in one tab`, { timeout: 15 * LIMIT }, async (t) => {
  const page = await shelf.page(t, { before: recordMemories });
  const measure = await meter(page);
  const fens = [...truth(String(DUMPS[0])).keys()].filter((_, n) => n % 7 === 0);
  await page.evaluate(async ([fens, pgns, bytes]) => {
    const { openAnalysis } = await import(/** @type {any} */ ("/pkg/analysis.js"));
    const database = await shelfish.openDatabase("db/manifest.json", { indexedDB: { name: "soak", bytes }, memoryBytes: 100_000 });
    Object.assign(globalThis, { fens, pgns, database, analysis: await openAnalysis() });
  }, /** @type {const} */ ([fens, PGNS, CACHE]));
  /** @type {Set<string>} */
  const answers = new Set();
  await isFlat("lookups, games and reports", measure, async (step) => {
    const wrong = await page.evaluate(async ([step, lookups, games]) => {
      const { fens, pgns, database, analysis } = /** @type {any} */ (globalThis);
      let wrong = 0;
      for (let n = 0; n < lookups; n++) {
        // A fixed walk through all positions.
        const fen = fens[((step * lookups + n) * 7919) % fens.length];
        if ((await database.lookup(fen))?.fen !== fen) wrong++;
      }
      for (let n = 0; n < games; n++) {
        const pgn = pgns[(step * games + n) % pgns.length];
        const found = await database.lookupMany(analysis.read(pgn).positions);
        if (found.some((/** @type {unknown} */ answer) => answer instanceof Error)) wrong++;
        const { report, databaseError } = await analysis.analyseGame(pgn, { database });
        if (databaseError || report.known === 0) wrong++;
      }
      return wrong;
    }, /** @type {const} */ ([step, LOOKUPS / 20, GAMES / 20]));
    answers.add(String(wrong));
  });
  assert.deepEqual([...answers], ["0"]);
});

test(`${VISITS} games on the board in one tab`, { timeout: 15 * LIMIT }, async (t) => {
  const page = await shelf.page(t, { path: "site/", before: recordMemories });
  await page.evaluate(withoutEngine);
  await page.reload();
  const measure = await meter(page);
  const games = ["kasparov-topalov-1999", "morphy-isouard-1858"];
  let number = 0;
  await isFlat("games on the board", async () => ({ ...(await measure()), cache: 0 }), async () => {
    for (let n = 0; n < VISITS / 20; n++, number++) {
      const ply = 2 + (number % 20);
      await page.evaluate((hash) => void (location.hash = hash), `game=${games[number % 2]}&ply=${ply}`);
      await until(() => page.evaluate((ply) => new URLSearchParams(location.hash.slice(1)).get("ply") === String(ply) && /^Depth \d/.test(document.querySelector("[data-testid=facts]")?.textContent ?? ""), ply), `ply ${ply} of game ${number} is shown`);
    }
  });
});
