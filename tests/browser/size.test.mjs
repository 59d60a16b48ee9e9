// What a page has to load before its first answer.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { PACKAGE } from "./support/paths.mjs";

test("the module and its JavaScript take at most 78 kB in Brotli", () => {
  const files = readdirSync(PACKAGE).filter((name) => /\.(wasm|m?js)$/.test(name));
  const sizes = files.map((name) => [name, brotliCompressSync(readFileSync(join(PACKAGE, name))).length]);
  const sum = sizes.reduce((sum, [, size]) => sum + Number(size), 0);
  assert.ok(files.some((name) => name.endsWith(".wasm")));
  assert.ok(sum <= 78_000, sizes.map((pair) => pair.join(" ")).join(", "));
});
