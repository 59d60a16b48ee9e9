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

// The hashes of pinned databases, and pages that refer to several files, take 1.6 kB in each module.
test("the module and its JavaScript take at most 118 kB in Brotli", (t) => {
  bounded(t, 118_000, entry(), "shelfish_bg.wasm");
});

// The module has 0.2 kB more since its code serves two modules, and 0.1 kB for redirects to signed addresses.
// An answer that a new build outruns is found again, with its names, which takes 0.6 kB. The time-out of the module takes 0.2 kB.
test("the module of books and its JavaScript take at most 125 kB in Brotli, and are not part of the reader", (t) => {
  bounded(t, 125_000, "book.js", "shelfish_book_bg.wasm");
  assert.ok(
    !readFileSync(join(PACKAGE, entry()), "utf8").includes("movesMany"),
  );
});

test("books and databases by a single module take at most 136 kB in Brotli with their JavaScript", (t) => {
  bounded(t, 136_000, "explorer.js", "shelfish_explorer_bg.wasm");
});

test("endgame tables and their JavaScript take at most 86 kB in Brotli, and are not part of the reader", (t) => {
  bounded(t, 86_000, "endgames.js", "shelfish_endgames_bg.wasm");
  assert.ok(
    !readFileSync(join(PACKAGE, entry()), "utf8").includes("openEndgames"),
  );
});

// Marks of good moves with their two passes, and the accuracy of phases, take 4 kB.
test("the analysis and its JavaScript take at most 84 kB in Brotli, and are not part of the reader", (t) => {
  bounded(t, 84_000, "analysis.js", "shelfish_analysis_bg.wasm");
  assert.ok(!readFileSync(join(PACKAGE, entry()), "utf8").includes("analysis"));
});

test("the engine, its network, its Worker and its JavaScript take at most 150 kB in Brotli, and are not part of the reader", (t) => {
  bounded(
    t,
    150_000,
    "engine.js",
    "engine-worker.js",
    "shelfish_engine_bg.wasm",
  );
  assert.ok(!readFileSync(join(PACKAGE, entry()), "utf8").includes("engine"));
});

test("the module as JavaScript takes at most 5 % more, and the inline entry at most 122 kB in Brotli", (t) => {
  bounded(t, 1.05 * brotli("shelfish_bg.wasm"), "wasm.js");
  bounded(t, 122_000, "inline.js", "wasm.js");
});

// The time-out of the Worker takes 0.1 kB.
test("the script of a page with a database in a Worker takes at most 1.9 kB in Brotli", (t) => {
  bounded(t, 1_900, "worker.js");
});

test("the viewer of games takes at most 22 kB in Brotli, with rules and pieces, and contains no module", (t) => {
  bounded(t, 22_000, "game.js");
});

test("the names of openings take at most 35 kB in Brotli, and are no part of books", (t) => {
  bounded(t, 35_000, "openings.js");
  assert.ok(
    !readFileSync(join(PACKAGE, "book.js"), "utf8").includes("Sicilian"),
  );
});

test("the adapter for UCI takes at most 4 kB in Brotli, and contains no part that it loads", (t) => {
  bounded(t, 4_000, "uci.js");
  assert.ok(
    !/wasm|^import |^export /m.test(
      readFileSync(join(PACKAGE, "uci.js"), "utf8"),
    ),
    "a classic script",
  );
});

test("the adapter for Lichess takes at most 4 kB in Brotli, its rules 8 kB, and both contain no part that they load", (t) => {
  bounded(t, 4_000, "lichess.js");
  bounded(t, 8_000, "lichess-moves.js");
  for (const file of ["lichess.js", "lichess-moves.js"])
    assert.ok(!/wasm|Sicilian/.test(readFileSync(join(PACKAGE, file), "utf8")));
});

test("the service worker takes at most 55 kB in Brotli, with names of openings and without modules", (t) => {
  bounded(t, 55_000, "shelfish-lichess-sw.js");
  assert.ok(
    !/^(import|export) |\bimport\(/m.test(
      readFileSync(join(PACKAGE, "shelfish-lichess-sw.js"), "utf8"),
    ),
    "a classic script",
  );
});

test("the hooks for React take at most 4 kB in Brotli, and contain no part that they load", (t) => {
  bounded(t, 4_000, "react.js");
  assert.ok(!readFileSync(join(PACKAGE, "react.js"), "utf8").includes("wasm"));
});

test("the elements of a position and of an explorer take at most 5 kB in Brotli, and contain no part that they load", (t) => {
  bounded(t, 5_000, "elements.js");
  assert.ok(
    !readFileSync(join(PACKAGE, "elements.js"), "utf8").includes("wasm"),
  );
});

// The scores of endings by tables take 0.2 kB, and the questions of the evaluator to the tables 0.5 kB.
test("scores take at most 1.55 kB in Brotli, the evaluator 6.9 kB, storage 0.6 kB, and these files contain no module", (t) => {
  bounded(t, 1_550, "score.js");
  bounded(t, 6_900, "evaluator.js");
  bounded(t, 600, "storage.js");
  for (const file of ["score.js", "evaluator.js", "storage.js"])
    assert.ok(!readFileSync(join(PACKAGE, file), "utf8").includes("wasm"));
});
