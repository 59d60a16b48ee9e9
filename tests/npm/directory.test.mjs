// A folder as the source of a database.
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE } from "../browser/support/paths.mjs";

/** @type {typeof import("shelfish")} */
const { directory } = await import(
  pathToFileURL(join(PACKAGE, "node.js")).href
);

const CONTENT = Buffer.from("0123456789");

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "shelfish folder #1 %-"));
  writeFileSync(join(folder, "file"), CONTENT);
  writeFileSync(join(folder, "empty"), "");
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "..", "beside"), "");
});
after(() => {
  rmSync(folder, { recursive: true });
  rmSync(join(folder, "..", "beside"));
});

const bytes = (/** @type {Uint8Array} */ array) =>
  Buffer.from(array).toString();

test("files and byte ranges are read", async () => {
  const source = directory(folder);
  assert.equal(bytes(await source.whole("file", 10)), "0123456789");
  assert.equal(bytes(await source.whole("empty", 0)), "");
  for (const [start, end] of /** @type {const} */ ([
    [0, 10],
    [0, 1],
    [9, 10],
    [3, 7],
    [4, 4],
    [10, 10],
  ])) {
    assert.equal(
      bytes(await source.range("file", start, end)),
      CONTENT.subarray(start, end).toString(),
    );
  }
});

test("the error of a read contains the file", async () => {
  const source = directory(folder);
  const gone = directory(join(folder, "gone"));
  /** @type {[() => Promise<unknown>, string, RegExp][]} */
  const cases = [
    [() => source.whole("missing", 10), "missing", /no such file/],
    [() => source.range("missing", 0, 1), "missing", /no such file/],
    [() => gone.whole("file", 10), "missing", /no such file/],
    [
      () => directory(join(folder, "file")).whole("file", 10),
      "missing",
      /no such file/,
    ],
    [() => source.whole("file", 9), "range", /10 bytes, more than 9/],
    [() => source.range("file", 5, 11), "range", /10 bytes, but bytes 5 to 11/],
    [() => source.range("file", 11, 12), "range", /10 bytes/],
    [() => source.range("file", 0, 2 ** 40), "range", /10 bytes/],
    [() => source.range("file", 7, 3), "range", /7 to 3/],
    [() => source.range("file", -1, 3), "range", /-1 to 3/],
    [() => source.range("file", NaN, 3), "range", /NaN/],
    [() => source.whole("deep", 1e9), "network", /expected a regular file/],
    [() => source.whole("../beside", 10), "usage", /not the name of a file/],
    [() => source.range("..", 0, 1), "usage", /not the name of a file/],
    [() => source.whole("deep\\file", 10), "usage", /not the name of a file/],
    [() => source.whole("", 10), "usage", /not the name of a file/],
  ];
  for (const [read, code, message] of cases) {
    const error = await read().then(
      () => assert.fail(`${message}`),
      (error) => error,
    );
    assert.equal(error.code, code, `${error}`);
    assert.match(error.message, message);
    assert.ok(
      error.url.startsWith(pathToFileURL(`${folder}/`).href),
      error.url,
    );
  }
});
