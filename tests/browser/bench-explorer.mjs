// Measures answers of the explorer in a browser: moves with evaluations. `cargo xtask bench-explorer` calls it.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { games } from "./support/games.mjs";
import { FLAGS, START } from "./support/lab.mjs";
import { CHROMIUM, PACKAGE } from "./support/paths.mjs";
import { spread } from "./support/quantile.mjs";
import { serve } from "./support/serve.mjs";

const { values: options } = parseArgs({
  options: {
    book: { type: "string" },
    evals: { type: "string" },
    games: { type: "string" },
    count: { type: "string", default: "40" },
    latency: { type: "string", default: "50" },
    mbit: { type: "string", default: "20" },
  },
});
const [book, evals, pgn] = [options.book, options.evals, options.games].map(
  (path) => resolve(path ?? ""),
);
if (
  !book ||
  !evals ||
  !pgn ||
  ![join(book, "manifest.json"), join(evals, "manifest.json"), pgn].every(
    existsSync,
  )
) {
  console.error(
    "usage: bench-explorer.mjs --book DIR --evals DIR --games PGN, all of which exist",
  );
  process.exit(2);
}

const count = Number(options.count);
// The starting position, which has the most moves, and positions of whole games, each with its successor.
const whole = await games(pgn, count - 1, 5_000);
const pairs = [
  whole[0]?.slice(0, 2) ?? [],
  ...whole.map((fens, n) => fens.slice(1 + ((7 * n) % 38)).slice(0, 2)),
];

const root = mkdtempSync(join(tmpdir(), "shelfish-bench-"));
writeFileSync(
  join(root, "index.html"),
  '<!doctype html><link rel="icon" href="data:,"><title>Bench</title>',
);
for (const [from, to] of [
  [PACKAGE, "pkg"],
  [book, "book"],
  [evals, "evals"],
]) {
  cpSync(String(from), join(root, String(to)), {
    recursive: true,
    dereference: true,
  });
}
const server = await serve(
  root,
  "--latency-ms",
  String(options.latency),
  "--bandwidth-mbit",
  String(options.mbit),
);
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: FLAGS,
});
const page = await (await browser.newContext()).newPage();
const session = await page.context().newCDPSession(page);
await page.goto(server.url);

// Both modules are loaded, compiled and warmed up, so that neither their download nor their compilation is measured.
await page.evaluate(async (start) => {
  const [path, module] = [
    location.origin + "/pkg/",
    (/** @type {string} */ name) => import(name),
  ];
  const [{ openBook }, { openDatabase }] = [
    await module(`${path}book.js`),
    await module(`${path}index.js`),
  ];
  /** @type {{ url: string, start: number, end: number }[]} */
  const ranges = [];
  const watched = {
    indexedDB: false,
    onRequest: (/** @type {any} */ { url, start, end }) =>
      ranges.push({ url, start, end }),
  };
  /** @type {any[]} */
  let opened = [];
  const explorer = {
    /** Opens both databases at the same time. */
    open() {
      opened.forEach((each) =>
        each.then((/** @type {any} */ one) => one.close()),
      );
      ranges.length = 0;
      opened = [openBook("book/", watched), openDatabase("evals/", watched)];
    },
    /** @param {string} fen */
    async answer(fen) {
      const begun = performance.now();
      const before = ranges.length;
      if (before === 0) this.open();
      // The answer of the book does not wait for the evaluations.
      const evals = {
        lookupMany: async (
          /** @type {string[]} */ fens,
          /** @type {any} */ rest,
        ) => (await opened[1]).lookupMany(fens, rest),
      };
      const told = await (await opened[0]).explore(fen, { database: evals });
      const ms = performance.now() - begun;
      const asked = ranges.slice(before);
      const twice = asked.filter((range, n) =>
        ranges
          .slice(0, before + n)
          .some(
            ({ url, start, end }) =>
              url === range.url && start < range.end && range.start < end,
          ),
      );
      return {
        ms,
        moves: told.moves.length,
        evaluations: told.moves.filter(
          (/** @type {any} */ move) => move.evaluation,
        ).length,
        requests: asked.length,
        twice: twice.length,
        bytes: asked.reduce((sum, { start, end }) => sum + end - start, 0),
        errors: told.moves.filter((/** @type {any} */ move) => move.error)
          .length,
      };
    },
    forget: () => void (ranges.length = 0),
    manifests: async () =>
      (await Promise.all(opened)).map(({ manifest: { positions, bytes } }) => ({
        positions,
        bytes,
      })),
  };
  Object.assign(globalThis, { explorer });
  await explorer.answer(start);
}, START);

/** @typedef {{ ms: number, moves: number, evaluations: number, requests: number, twice: number, bytes: number, errors: number }} Cost */
/** @type {{ cold: Cost[], next: Cost[] }} */
const costs = { cold: [], next: [] };
for (const [fen, next] of pairs) {
  if (!fen || !next) continue;
  await session.send("Network.clearBrowserCache");
  const answer = (/** @type {string} */ fen, /** @type {boolean} */ isCold) =>
    page.evaluate(([fen, isCold]) => {
      const { explorer } = /** @type {any} */ (globalThis);
      if (isCold) explorer.forget();
      return explorer.answer(fen);
    }, /** @type {const} */ ([fen, isCold]));
  costs.cold.push(await answer(fen, true));
  costs.next.push(await answer(next, false));
}
const manifests = await page.evaluate(() =>
  /** @type {any} */ (globalThis).explorer.manifests(),
);
await browser.close();
await server.close();
rmSync(root, { recursive: true });

const all = [...costs.cold, ...costs.next];
const row = (
  /** @type {string} */ name,
  /** @type {Cost[]} */ of,
  /** @type {keyof Cost} */ key,
  divisor = 1,
  digits = 0,
) => {
  return `| ${name} | ${spread(
    of.map((cost) => cost[key] / divisor),
    digits,
  )} |`;
};
const told = manifests.map(
  (/** @type {any} */ { positions, bytes }) =>
    `${positions.toLocaleString("en")} positions, ${(bytes / positions).toFixed(2)} bytes each`,
);
console.log(`
Book of ${told[0]}; evaluations of ${told[1]}; ${options.latency} ms a request, ${options.mbit} Mbit/s;
${costs.cold.length} positions and the ones after them, the first of all among them; Chromium ${browser.version()}

| | mean | median | p95 | max |
|---|---|---|---|---|
${row("cold answer, ms", costs.cold, "ms")}
${row("cold answer, requests", costs.cold, "requests", 1, 1)}
${row("cold answer, KiB", costs.cold, "bytes", 1024)}
${row("cold answer, moves", costs.cold, "moves", 1, 1)}
${row("cold answer, evaluations", costs.cold, "evaluations", 1, 1)}
${row("next move, ms", costs.next, "ms")}
${row("next move, requests", costs.next, "requests", 1, 1)}
${row("next move, KiB", costs.next, "bytes", 1024)}
${row("next move, moves", costs.next, "moves", 1, 1)}

The first position of all: ${costs.cold[0]?.ms.toFixed(0)} ms, ${costs.cold[0]?.requests} requests for ${costs.cold[0]?.moves} moves.
Requests for bytes that had come before: ${all.reduce((sum, { twice }) => sum + twice, 0)}; moves whose evaluation failed: ${all.reduce((sum, { errors }) => sum + errors, 0)}.
`);
