// Sizes of the files that a page loads before its first answer. After `cargo xtask npm`, `node --test tests/browser/size.test.mjs`
// prints them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { PACKAGE, entry } from "./support/paths.mjs";

const brotli = (/** @type {string} */ name) =>
  brotliCompressSync(readFileSync(join(PACKAGE, name))).length;

/** Prints the Brotli sizes of files and their sum. Fails if the sum exceeds `most`. */
function bounded(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {number} */ most,
  /** @type {string[]} */ ...names
) {
  const sizes = names.map(brotli);
  const sum = sizes.reduce((sum, size) => sum + size, 0);
  const told = `${sum} bytes: ${names.map((name, n) => `${name} ${sizes[n]}`).join(", ")}`;
  t.diagnostic(told);
  assert.ok(sum <= most, told);
}

/** Files that a page loads for a task, and their maximum size in Brotli. */
const LIMITS = /** @type {const} */ ([
  ["databases and books", 126_000, [entry(), "shelfish_bg.wasm"]],
  ["endgame tables", 78_000, ["endgames.js", "shelfish_endgames_bg.wasm"]],
  ["the analysis", 82_000, ["analysis.js", "shelfish_analysis_bg.wasm"]],
  [
    "the engine with its network",
    149_500,
    ["engine.js", "engine-worker.js", "shelfish_engine_bg.wasm"],
  ],
  ["a page with a database in a Worker", 2_200, ["worker.js"]],
  ["the names of openings", 34_600, ["openings.js"]],
  ["the adapter for UCI", 4_300, ["uci.js"]],
  ["the adapter for Lichess", 4_100, ["lichess.js"]],
  ["the service worker", 55_000, ["shelfish-lichess-sw.js"]],
  ["the hooks for React", 1_800, ["react.js"]],
  ["the elements", 12_700, ["elements.js"]],
]);
for (const [what, most, files] of LIMITS)
  test(`${what} take at most ${most / 1000} kB in Brotli`, (t) =>
    bounded(t, most, ...files));

test("the module as JavaScript takes at most 5 % more", (t) => {
  bounded(t, 1.05 * brotli("shelfish_bg.wasm"), "wasm.js");
});

test("files that load other files contain none of them, and the scripts of Workers are classic scripts", () => {
  const text = (/** @type {string} */ name) =>
    readFileSync(join(PACKAGE, name), "utf8");
  for (const name of ["uci.js", "lichess.js", "react.js", "elements.js"])
    assert.ok(!/\.wasm|Sicilian/.test(text(name)), name);
  for (const name of ["uci.js", "shelfish-lichess-sw.js"])
    assert.ok(!/^import |^export /m.test(text(name)), name);
});
