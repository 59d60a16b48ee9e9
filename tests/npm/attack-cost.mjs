// Prints the cost of hostile blocks and manifests for the package: a table for `cargo xtask bench-attack`.
// node tests/npm/attack-cost.mjs DIR, after `attack write DIR`.
import { performance } from "node:perf_hooks";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { attacks } from "./support/attacks.mjs";
import { host } from "../browser/support/host.mjs";
import { PACKAGE } from "../browser/support/paths.mjs";

/** Number of runs of each measurement. The fastest run counts. */
const RUNS = 5;

/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);
/** @type {typeof import("shelfish")} */
const { openBook } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);
const dir = String(process.argv[2]);
const shelf = await host(dir);

/**
 * Returns the milliseconds that a call occupies the thread, and its result.
 * @param {() => Promise<string>} work
 */
async function cost(work) {
  let least = Infinity;
  let outcome = "";
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.cpuUsage();
    const started = performance.now();
    outcome = await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(
      least,
      performance.now() - started,
      (user + system) / 1000,
    );
  }
  return { least, outcome };
}

console.log(
  "| in WebAssembly, Node | ms, request included | outcome |\n|---|---:|---|",
);
const { blocks, books, manifests } = attacks(dir);
for (const { name, fen, url } of blocks) {
  const { least, outcome } = await cost(async () => {
    const database = await openDatabase(new URL(url, shelf.url), {
      memoryBytes: 0,
      indexedDB: false,
    });
    const answer = await database
      .lookup(fen, { san: true })
      .catch((/** @type {any} */ error) => error);
    database.close();
    return answer instanceof Error
      ? `${/** @type {any} */ (answer).code}`
      : `${answer?.evaluations.length} evaluations`;
  });
  console.log(`| ${name} | ${least.toFixed(1)} | ${outcome} |`);
}
for (const { name, fen, url } of books) {
  const { least, outcome } = await cost(async () => {
    const book = await openBook(new URL(url, shelf.url), {
      memoryBytes: 0,
      indexedDB: false,
    });
    const answer = await book
      .moves(fen)
      .catch((/** @type {any} */ error) => error);
    book.close();
    return answer instanceof Error
      ? `${/** @type {any} */ (answer).code}`
      : `${answer.moves.length} moves`;
  });
  console.log(`| moves: ${name} | ${least.toFixed(1)} | ${outcome} |`);
}
for (const { name, url } of manifests) {
  const { least, outcome } = await cost(async () => {
    const database = await openDatabase(new URL(url, shelf.url), {
      indexedDB: false,
    }).catch((/** @type {any} */ error) => error);
    if (database instanceof Error) return /** @type {any} */ (database).code;
    database.close();
    return "open";
  });
  console.log(`| manifest: ${name} | ${least.toFixed(1)} | ${outcome} |`);
}
const memory = process.memoryUsage();
console.log(
  `\nresident at the end: ${(memory.rss / 1e6).toFixed(0)} MB, array buffers: ${(memory.arrayBuffers / 1e6).toFixed(0)} MB`,
);
await shelf.close();
