// Measures lookups in a browser: requests, bytes, milliseconds. `cargo xtask bench-web` calls it.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { chromium } from "playwright-core";
import { games, neighbours } from "./support/games.mjs";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, PACKAGE, entry } from "./support/paths.mjs";
import { mean, spread } from "./support/quantile.mjs";
import { serve } from "./support/serve.mjs";

const { values: options } = parseArgs({
  options: {
    db: { type: "string" },
    evals: { type: "string" },
    games: { type: "string" },
    count: { type: "string", default: "100" },
    latency: { type: "string", default: "50" },
    mbit: { type: "string", default: "20" },
  },
});
const count = Number(options.count);
const [db, evals, pgn] = [options.db, options.evals, options.games].map(
  (path) => resolve(path ?? ""),
);
if (
  !db ||
  !evals ||
  !pgn ||
  ![join(db, "manifest.json"), evals, pgn].every(existsSync)
) {
  console.error(
    "usage: bench.mjs --db DIR --evals DUMP --games PGN, all of which exist",
  );
  process.exit(2);
}

const pairs = await neighbours(evals, count, 20_000);
const replay = await games(pgn, count, 2_300);

const root = mkdtempSync(join(tmpdir(), "shelfish-bench-"));
writeFileSync(
  join(root, "index.html"),
  '<!doctype html><link rel="icon" href="data:,"><title>Bench</title>',
);
cpSync(PACKAGE, join(root, "pkg"), { recursive: true, dereference: true });
cpSync(db, join(root, "db"), { recursive: true, dereference: true });
const [slow, fast] = [
  await serve(
    root,
    "--latency-ms",
    String(options.latency),
    "--bandwidth-mbit",
    String(options.mbit),
  ),
  await serve(root),
];
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: FLAGS,
});

/** Opens a page that has loaded and compiled the module, so that neither is measured. */
async function pageOf(/** @type {string} */ url) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.evaluate(async (entry) => {
    Object.assign(globalThis, { shelfish: await import(entry) });
    globalThis.database = await shelfish.openDatabase("db/manifest.json", {
      indexedDB: false,
    });
    await database.lookup(
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    );
    database.close();
  }, `/pkg/${entry()}`);
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
  /** @type {const} */ ([
    pairs.map(([fen]) => fen),
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
  ]),
);
const manifest = await local.evaluate(() => ({
  positions: database.manifest.positions,
  bytes: database.manifest.bytes,
}));
await browser.close();
await Promise.all([slow.close(), fast.close()]);
rmSync(root, { recursive: true });

/** Returns the Brotli size of all files that a page loads before its first answer. */
const shipped = [entry(), "shelfish_bg.wasm"].map((name) => {
  const bytes = readFileSync(join(PACKAGE, name));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 22,
  };
  return { name, size: brotliCompressSync(bytes, { params }).length };
});

const figures = (
  /** @type {Cost[]} */ costs,
  /** @type {keyof Cost} */ key,
  divisor = 1,
  digits = 0,
) =>
  spread(
    costs.map((cost) => cost[key] / divisor),
    digits,
  );

console.log(`
${manifest.positions.toLocaleString("en")} positions, ${(manifest.bytes / manifest.positions).toFixed(2)} bytes each; ${options.latency} ms a request, ${options.mbit} Mbit/s;
${pairs.length} lookups, ${replay.length} games of ${Math.round(mean(replay.map((fens) => fens.length)))} positions; Chromium ${browser.version()}

| | mean | median | p95 | max |
|---|---|---|---|---|
| cold lookup, requests | ${figures(costs.cold, "requests", 1, 1)} |
| cold lookup, dependent fetches | ${figures(costs.cold, "rounds", 1, 1)} |
| cold lookup, KiB | ${figures(costs.cold, "bytes", 1024, 1)} |
| cold lookup, ms | ${figures(costs.cold, "ms")} |
| next position, requests | ${figures(costs.near, "requests", 1, 2)} |
| next position, ms | ${figures(costs.near, "ms", 1, 1)} |
| whole game, cold, requests | ${figures(costs.game, "requests", 1, 1)} |
| whole game, cold, blocks fetched | ${figures(costs.game, "blocks", 1, 1)} |
| whole game, cold, dependent fetches | ${figures(costs.game, "rounds", 1, 1)} |
| whole game, cold, KiB | ${figures(costs.game, "bytes", 1024, 1)} |
| whole game, cold, ms | ${figures(costs.game, "ms")} |

| in WebAssembly, no network | mean | median | p95 | max |
|---|---|---|---|---|
| cold block, decoded and searched, ms (${decode.cold.length} blocks) | ${spread(decode.cold, 2)} |
| warm lookup, µs (${decode.warm.length} positions) | ${spread(decode.warm, 1)} |

The starting position with all its evaluations, warm: ${decode.warmStart.toFixed(1)} µs.
Module and JavaScript in Brotli: ${(shipped.reduce((sum, { size }) => sum + size, 0) / 1000).toFixed(1)} kB (${shipped.map(({ name, size }) => `${name} ${size}`).join(", ")}).
`);
