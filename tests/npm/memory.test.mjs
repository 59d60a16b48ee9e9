// Memory of the modules over many lookups and reports. Each run does the same work in the same order.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";
import { truth } from "../browser/support/truth.mjs";

/** Number of parts of the work. The memory is measured after each part. */
const PARTS = 10;
const LOOKUPS = 20_000;
const GAMES = 200;

/** @type {WebAssembly.Memory[]} */
const memories = [];
const { instantiate } = WebAssembly;
Object.assign(WebAssembly, {
  /** Records the memory of each module. @param {[any, any]} args */
  async instantiate(...args) {
    const result = /** @type {any} */ (await instantiate(...args));
    for (const value of Object.values((result.instance ?? result).exports))
      if (value instanceof WebAssembly.Memory) memories.push(value);
    return result;
  },
});

const at = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(at("node.js"));
/** @type {typeof import("shelfish/analysis")} */
const { openAnalysis } = await import(at("analysis-inline.js"));

test(`after the first half of ${LOOKUPS} lookups and ${GAMES} reports, each module needs at most 64 KiB more`, async (t) => {
  const database = await openDatabase(
    join(ROOT, "static-shards/package-sample"),
    { memoryBytes: 100_000 },
  );
  t.after(() => database.close());
  const analysis = await openAnalysis();
  const fens = [...truth(join(ROOT, "static-shards/sample.jsonl.zst")).keys()];
  const pgns = readFileSync(
    join(ROOT, "static-shards/famous.pgn"),
    "utf8",
  ).split(/\n(?=\[Event )/);
  /** @type {number[][]} */
  const pages = [];
  let found = 0;
  for (let part = 0; part < PARTS; part++) {
    for (
      let n = (part * LOOKUPS) / PARTS;
      n < ((part + 1) * LOOKUPS) / PARTS;
      n++
    ) {
      if (await database.lookup(String(fens[(n * 7919) % fens.length])))
        found++;
    }
    for (
      let n = (part * GAMES) / PARTS;
      n < ((part + 1) * GAMES) / PARTS;
      n++
    ) {
      const { databaseError } = await analysis.analyseGame(
        String(pgns[n % pgns.length]),
        { database, indexedDB: false },
      );
      assert.equal(databaseError, undefined);
    }
    pages.push(memories.map(({ buffer }) => buffer.byteLength / 65_536));
  }
  assert.equal(memories.length, 2);
  assert.ok(found > LOOKUPS / 10, `${found} positions found`);
  t.diagnostic(
    `memory of the modules in pages of 64 KiB: ${pages.map((part) => part.join(" + ")).join(", ")}`,
  );
  // Answers for the positions of a game arrive in any order, so that gaps in the memory differ.
  for (const [n, first] of Object.entries(pages[PARTS / 2 - 1] ?? [])) {
    const last = pages.at(-1)?.[Number(n)] ?? NaN;
    assert.ok(
      last <= first + 1,
      `module ${n} grew from ${first} to ${last} pages`,
    );
  }
});
