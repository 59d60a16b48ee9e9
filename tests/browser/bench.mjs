// Measures lookups in a browser: requests, bytes, milliseconds. `cargo xtask bench-web` calls it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import * as bench from "./support/bench.mjs";
import { START, launch } from "./support/chromium.mjs";
import { BLANK } from "./support/fixtures.mjs";
import { games, neighbours } from "./support/games.mjs";
import { PACKAGE, entry } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";

const pairs = await neighbours(String(bench.evals), bench.count, 20_000);
const replay = await games(String(bench.games), bench.count, 2_300);
const root = bench.copied({ pkg: PACKAGE, db: String(bench.db) });
writeFileSync(join(root, "index.html"), BLANK);
const [slow, fast] = [await bench.slow(root), await serve(root)];
const browser = await launch();

/** Opens a page that has loaded and compiled the module, so that neither is measured. */
async function pageOf(/** @type {string} */ url) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.evaluate(
    async ([entry, start]) => {
      Object.assign(globalThis, { shelfish: await import(String(entry)) });
      globalThis.database = await shelfish.openDatabase("db/manifest.json", {
        indexedDB: false,
      });
      await database.lookup(String(start));
      database.close();
    },
    [`/pkg/${entry()}`, START],
  );
  return page;
}

/** @typedef {{ ms: number, requests: number, bytes: number, blocks: number, rounds: number }} Cost */

/**
 * Measures lookups of positions, and the opening of the database if `open` is true.
 * @param {import("playwright-core").Page} page
 * @param {string[]} fens
 * @param {boolean} open
 * @returns {Promise<Cost>}
 */
function cost(page, fens, open) {
  return page.evaluate(async ([fens, open]) => {
    performance.clearResourceTimings();
    performance.setResourceTimingBufferSize(10_000);
    const start = performance.now();
    if (open)
      globalThis.database = await shelfish.openDatabase("db/manifest.json", {
        indexedDB: false,
      });
    const before = open
      ? { requests: 0, bytes: 0, networkBlocks: 0 }
      : database.stats();
    fens.length === 1
      ? await database.lookup(String(fens[0]))
      : await database.lookupMany(fens);
    const ms = performance.now() - start;
    const after = database.stats();
    // The longest chain of requests in which each request began after the end of its predecessor.
    const entries = /** @type {PerformanceResourceTiming[]} */ (
      performance.getEntriesByType("resource")
    );
    entries.sort((a, b) => a.responseEnd - b.responseEnd);
    let [rounds, end] = [0, -1];
    for (const { startTime, responseEnd } of entries)
      if (startTime >= end) [rounds, end] = [rounds + 1, responseEnd];
    return {
      ms,
      requests: after.requests - before.requests,
      bytes: after.bytes - before.bytes,
      blocks: after.networkBlocks - before.networkBlocks,
      rounds,
    };
  }, /** @type {const} */ ([fens, open]));
}

const page = await pageOf(slow.url);
/** @type {Record<"cold" | "near" | "game", Cost[]>} */
const costs = { cold: [], near: [], game: [] };
for (const [fen, next] of pairs) {
  costs.cold.push(await cost(page, [fen], true));
  costs.near.push(await cost(page, [next], false));
}
for (const fens of replay) costs.game.push(await cost(page, fens, true));

// Decoding without a network: the same requests answered from memory.
const local = await pageOf(fast.url);
const decode = await local.evaluate(
  async ([fens, start]) => {
    /** @type {Map<string, { body: ArrayBuffer, init: ResponseInit }>} */
    const known = new Map();
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const key = `${request.url} ${request.headers.get("range")}`;
      const hit = known.get(key);
      if (hit) return new Response(hit.body, hit.init);
      const answer = await real(input, init);
      const copy = answer.clone();
      known.set(key, {
        body: await copy.arrayBuffer(),
        init: { status: copy.status, headers: [...copy.headers] },
      });
      return answer;
    };
    /** @type {number[]} */
    let cold = [];
    for (const round of [0, 1, 2]) {
      globalThis.database = await shelfish.openDatabase("db/manifest.json", {
        indexedDB: false,
      });
      // The first lookup also fetches the page of the index. Only the block is measured.
      cold = [];
      for (const fen of fens) {
        const before = database.stats().networkBlocks;
        const began = performance.now();
        await database.lookup(fen);
        const time = performance.now() - began;
        if (database.stats().networkBlocks > before) cold.push(time);
      }
      if (round < 2) database.close();
    }
    // Few enough positions that their blocks stay in memory. Many rounds, because clocks in pages are coarse.
    const kept = fens.slice(0, 20);
    const timed = async (/** @type {string} */ fen) => {
      const [began, rounds] = [performance.now(), 500];
      for (let i = 0; i < rounds; i++) await database.lookup(fen);
      return ((performance.now() - began) / rounds) * 1000;
    };
    for (const fen of kept) await timed(fen);
    const warm = [];
    for (const fen of kept) warm.push(await timed(fen));
    await database.lookup(start);
    return { cold, warm, warmStart: await timed(start) };
  },
  /** @type {const} */ ([pairs.map(([fen]) => fen), START]),
);
const manifest = await local.evaluate(() => ({
  positions: database.manifest.positions,
  bytes: database.manifest.bytes,
}));
await browser.close();
await Promise.all([slow.close(), fast.close()]);

/** Returns the Brotli size of all files that a page loads before its first answer. */
const shipped = [entry(), "shelfish_bg.wasm"].map((name) => {
  const bytes = readFileSync(join(PACKAGE, name));
  return { name, size: brotliCompressSync(bytes).length };
});

const figures = (
  /** @type {string} */ name,
  /** @type {Cost[]} */ costs,
  /** @type {keyof Cost} */ key,
  digits = 0,
  divisor = 1,
) => [
  name,
  ...bench.spread(
    costs.map((cost) => cost[key] / divisor),
    digits,
  ),
];
const SPREAD = ["mean", "median", "p95", "max"];
const { cold, near, game } = costs;
const plies = bench.mean(replay.map((fens) => fens.length));

console.log(`
${manifest.positions.toLocaleString("en")} positions, ${(manifest.bytes / manifest.positions).toFixed(2)} bytes each; ${bench.network};
${pairs.length} lookups, ${replay.length} games of ${Math.round(plies)} positions; Chromium ${browser.version()}

${bench.table(
  ["", ...SPREAD],
  [
    figures("cold lookup, requests", cold, "requests", 1),
    figures("cold lookup, dependent fetches", cold, "rounds", 1),
    figures("cold lookup, KiB", cold, "bytes", 1, 1024),
    figures("cold lookup, ms", cold, "ms"),
    figures("next position, requests", near, "requests", 2),
    figures("next position, ms", near, "ms", 1),
    figures("whole game, cold, requests", game, "requests", 1),
    figures("whole game, cold, blocks fetched", game, "blocks", 1),
    figures("whole game, cold, dependent fetches", game, "rounds", 1),
    figures("whole game, cold, KiB", game, "bytes", 1, 1024),
    figures("whole game, cold, ms", game, "ms"),
  ],
)}

${bench.table(
  ["in WebAssembly, no network", ...SPREAD],
  [
    ["cold block, decoded and searched, ms", ...bench.spread(decode.cold, 2)],
    ["warm lookup, µs", ...bench.spread(decode.warm, 1)],
  ],
)}

The starting position with all its evaluations, warm: ${decode.warmStart.toFixed(1)} µs.
Module and JavaScript in Brotli: ${(bench.sum(shipped.map(({ size }) => size)) / 1000).toFixed(1)} kB (${shipped.map(({ name, size }) => `${name} ${size}`).join(", ")}).
`);
