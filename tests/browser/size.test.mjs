// What a page has to load before its first answer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { PACKAGE, entry } from "./support/paths.mjs";

const brotli = (/** @type {string} */ name) => brotliCompressSync(readFileSync(join(PACKAGE, name))).length;

test("the module and its JavaScript take at most 107.5 kB in Brotli", () => {
  const sizes = [entry(), "shelfish_bg.wasm"].map((name) => /** @type {const} */ ([name, brotli(name)]));
  const sum = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(sum <= 107_500, sizes.map((pair) => pair.join(" ")).join(", "));
});

test("the module of books and its JavaScript take at most 114 kB in Brotli, and are no part of it", () => {
  const sizes = ["book.js", "shelfish_book_bg.wasm"].map((name) => /** @type {const} */ ([name, brotli(name)]));
  const sum = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(sum <= 114_000, sizes.map((pair) => pair.join(" ")).join(", "));
  assert.ok(!readFileSync(join(PACKAGE, entry()), "utf8").includes("movesMany"));
});

test("the analysis and its JavaScript take at most 49 kB in Brotli, and are no part of it", () => {
  const sizes = ["analysis.js", "shelfish_analysis_bg.wasm"].map((name) => /** @type {const} */ ([name, brotli(name)]));
  const sum = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(sum <= 49_000, sizes.map((pair) => pair.join(" ")).join(", "));
  assert.ok(!readFileSync(join(PACKAGE, entry()), "utf8").includes("analysis"));
});

test("the engine, its network, its Worker and its JavaScript take at most 130 kB in Brotli, and are no part of it", () => {
  for (const module of ["shelfish_engine_bg.wasm", "shelfish_engine_scalar_bg.wasm"]) {
    const sizes = ["engine.js", "engine-worker.js", module].map((name) => /** @type {const} */ ([name, brotli(name)]));
    const sum = sizes.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(sum <= 130_000, sizes.map((pair) => pair.join(" ")).join(", "));
  }
  assert.ok(!readFileSync(join(PACKAGE, entry()), "utf8").includes("engine"));
});

test("inside of JavaScript the module takes hardly more", () => {
  assert.ok(brotli("wasm.js") <= 1.05 * brotli("shelfish_bg.wasm"));
});

test("the viewer of games takes at most 22 kB in Brotli, with rules and pieces, and has no module in it", () => {
  assert.ok(brotli("game.js") <= 22_000, String(brotli("game.js")));
});

test("the names of openings take at most 35 kB in Brotli, and are no part of books", () => {
  assert.ok(brotli("openings.js") <= 35_000, String(brotli("openings.js")));
  assert.ok(!readFileSync(join(PACKAGE, "book.js"), "utf8").includes("Sicilian"));
});
