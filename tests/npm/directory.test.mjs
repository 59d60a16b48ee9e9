// A folder as the source of a database.
import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "node.js")).href
);
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

test("a folder is a database by its path or URL, and an error names the file", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "shelfish folder #1 %-"));
  t.after(() => rmSync(root, { recursive: true }));
  const [good, cut, large, deep] = ["good", "cut", "large", "deep"].map(
    (name) => join(root, name),
  );
  for (const folder of [good, cut, large])
    cpSync(join(ROOT, "tests/data/database/db"), String(folder), {
      recursive: true,
    });
  for (const name of [
    good,
    join(String(good), "manifest.json"),
    pathToFileURL(`${good}/`),
  ]) {
    const database = await openDatabase(/** @type {string} */ (name));
    assert.equal((await database.lookup(START))?.depth, 20);
    database.close();
  }
  const [silo] = readdirSync(String(cut)).filter((name) =>
    name.endsWith(".silo"),
  );
  truncateSync(join(String(cut), String(silo)), 10);
  writeFileSync(join(String(large), "manifest.json"), Buffer.alloc(1 << 27));
  mkdirSync(join(String(deep), "manifest.json"), { recursive: true });
  /** @type {[string, string, RegExp][]} */
  const cases = [
    [join(root, "gone"), "missing", /no such file.*manifest\.json/],
    [String(large), "range", /134217728 bytes, more than/],
    [join(String(deep), "."), "network", /expected a regular file/],
    [String(cut), "range", /10 bytes, but bytes \d+ to \d+ were requested/],
  ];
  for (const [folder, code, message] of cases) {
    const asked = openDatabase(folder).then((database) =>
      database.lookup(START),
    );
    const error = await asked.then(
      () => assert.fail(folder),
      (error) => error,
    );
    assert.equal(error.code, code, `${error}`);
    assert.match(error.message, message);
    assert.ok(error.url.startsWith(pathToFileURL(`${root}/`).href), error.url);
  }
});
