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
/** Number of steps. A measurement follows each step. */
const STEPS = 20;
/**
 * Number of steps with growing memory: a tenth. Memory grows in half of the steps of a short run, because code is compiled and the buffers
 * of the modules reach their usual sizes.
 */
const WARM_UP = IS_LONG ? STEPS / 10 : STEPS / 2;
/** Maximum size of the cache in IndexedDB, in bytes. */
const CACHE = 200_000;
const PGNS = readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8").split(
  /\n(?=\[Event )/,
);

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Runs in a page before its scripts. Records the memories of all modules. */
function recordMemories() {
  /** @type {WebAssembly.Memory[]} */
  const memories = [];
  Object.assign(globalThis, { memories });
  for (const name of /** @type {const} */ ([
    "instantiate",
    "instantiateStreaming",
  ])) {
    const original = /** @type {any} */ (WebAssembly[name]);
    Object.assign(WebAssembly, {
      async [name](/** @type {unknown[]} */ ...args) {
        const result = await original.apply(WebAssembly, args);
        for (const value of Object.values((result.instance ?? result).exports))
          if (value instanceof WebAssembly.Memory) memories.push(value);
        return result;
      },
    });
  }
}

/**
 * Returns a function that measures the tab. It returns the kilobytes of JavaScript after a collection, of the modules and in IndexedDB.
 * It also returns the number of nodes of documents.
 * @param {Page} page
 */
async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  return async () => {
    // Finalizers of a collection release objects for the next collection.
    let usedSize = Infinity;
    for (let before = Infinity, n = 0; n < 10; n++, before = usedSize) {
      await session.send("HeapProfiler.collectGarbage");
      ({ usedSize } = await session.send("Runtime.getHeapUsage"));
      if (usedSize > 0.99 * before) break;
    }
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
          const values = await done(
            connection.transaction("bytes").objectStore("bytes").getAll(),
          );
          for (const value of values) cache += value.byteLength;
        }
        connection.close();
      }
      const { memories } = /** @type {{ memories: WebAssembly.Memory[] }} */ (
        /** @type {unknown} */ (globalThis)
      );
      return /** @type {const} */ ([
        memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
        cache,
      ]);
    });
    return {
      heap: usedSize / 1000,
      modules: modules / 1000,
      cache: cache / 1000,
      nodes,
    };
  };
}

/**
 * Does work in steps and measures the tab after each. Memory may grow in the first steps only.
 * @param {string} what
 * @param {() => Promise<{ heap: number, modules: number, cache: number, nodes: number }>} measure
 * @param {(step: number) => Promise<void>} work
 */
async function isFlat(what, measure, work) {
  /** @type {Awaited<ReturnType<typeof measure>>[]} */
  const all = [];
  for (let step = 0; step < STEPS; step++) {
    await work(step);
    all.push(await measure());
  }
  const values = (
    /** @type {"heap" | "modules" | "cache" | "nodes"} */ name,
    /** @type {number} */ from,
    to = STEPS,
  ) =>
    all
      .slice(from, to)
      .map((measured) => measured[name])
      .sort((a, b) => a - b);
  for (const name of /** @type {const} */ ([
    "heap",
    "modules",
    "cache",
    "nodes",
  ])) {
    console.log(
      `${what}, ${name}: ${all.map((measured) => Math.round(measured[name])).join(" ")}`,
    );
  }
  // Code is also compiled later, so the heap may grow a little. Answers of IndexedDB arrive in any order, so that the gaps in the memory
  // of a module differ. Up to five pages of 64 KiB may follow. `tests/npm/memory.test.mjs` has nearly a fixed order and allows a page.
  for (const [name, share, more] of /** @type {const} */ ([
    ["heap", 0.1, 500],
    ["modules", 0, 330],
    ["nodes", 0.1, 100],
  ])) {
    // A leak grows until the end, so that it raises the median of the last quarter. A page that is just replaced does not.
    const [limit, last] = [
      values(name, 0, WARM_UP).at(-1) ?? NaN,
      values(name, STEPS - 5)[2] ?? NaN,
    ];
    assert.ok(
      last <= limit * (1 + share) + more,
      `${what}: ${name} grew from ${limit} to ${last}`,
    );
  }
  const cache = values("cache", 0).at(-1) ?? NaN;
  assert.ok(cache <= (1.2 * CACHE) / 1000, `${cache} kB in IndexedDB`);
}

test(
  `${LOOKUPS} lookups, ${GAMES} games and ${GAMES} reports in one tab`,
  { timeout: 15 * LIMIT },
  async (t) => {
    const page = await shelf.page(t, { before: recordMemories });
    const measure = await meter(page);
    const fens = [...truth(String(DUMPS[0])).keys()].filter(
      (_, n) => n % 7 === 0,
    );
    await page.evaluate(async ([fens, pgns, bytes]) => {
      const { openAnalysis } = await import(
        /** @type {any} */ ("/pkg/analysis.js")
      );
      const database = await shelfish.openDatabase("db/manifest.json", {
        indexedDB: { name: "soak", bytes },
        memoryBytes: 100_000,
      });
      Object.assign(globalThis, {
        fens,
        pgns,
        database,
        analysis: await openAnalysis(),
      });
    }, /** @type {const} */ ([fens, PGNS, CACHE]));
    await isFlat("lookups, games and reports", measure, async (step) => {
      const wrong = await page.evaluate(
        async ([step, lookups, games]) => {
          const { fens, pgns, database, analysis } = /** @type {any} */ (
            globalThis
          );
          /** @type {string[]} */
          const wrong = [];
          for (let n = 0; n < lookups; n++) {
            // A fixed walk through all positions.
            const fen = fens[((step * lookups + n) * 7919) % fens.length];
            const answer = await database.lookup(fen);
            if (answer?.fen !== fen) wrong.push(`${fen}: found ${answer?.fen}`);
          }
          for (let n = 0; n < games; n++) {
            const pgn = pgns[(step * games + n) % pgns.length];
            const name = `game ${(step * games + n) % pgns.length}`;
            for (const answer of await database.lookupMany(
              analysis.read(pgn).positions,
            )) {
              // The last position of some games is a checkmate.
              if (
                answer instanceof Error &&
                /** @type {{ code?: string }} */ (answer).code !== "over"
              )
                wrong.push(`${name}: ${answer}`);
            }
            const { report, databaseError } = await analysis.analyseGame(pgn, {
              database,
            });
            if (databaseError || report.known === 0)
              wrong.push(
                `${name}: ${report.known} known positions, ${databaseError}`,
              );
          }
          return wrong;
        },
        /** @type {const} */ ([step, LOOKUPS / 20, GAMES / 20]),
      );
      assert.deepEqual(wrong, [], `step ${step}`);
    });
  },
);

test(
  `${VISITS} games on the board in one tab`,
  { timeout: 15 * LIMIT },
  async (t) => {
    const page = await shelf.page(t, { path: "site/", before: recordMemories });
    await page.evaluate(withoutEngine);
    await page.reload();
    const measure = await meter(page);
    const games = ["kasparov-topalov-1999", "morphy-isouard-1858"];
    let number = 0;
    await isFlat(
      "games on the board",
      async () => ({ ...(await measure()), cache: 0 }),
      async () => {
        for (let n = 0; n < VISITS / 20; n++, number++) {
          const ply = 2 + (number % 20);
          await page.evaluate(
            (hash) => void (location.hash = hash),
            `game=${games[number % 2]}&ply=${ply}`,
          );
          await until(
            () =>
              page.evaluate(
                (ply) =>
                  new URLSearchParams(location.hash.slice(1)).get("ply") ===
                    String(ply) &&
                  /^Depth \d/.test(
                    document.querySelector("[data-testid=facts]")
                      ?.textContent ?? "",
                  ),
                ply,
              ),
            `ply ${ply} of game ${number} is shown`,
          );
        }
      },
    );
  },
);
