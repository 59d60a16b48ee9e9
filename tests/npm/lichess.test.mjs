// Answers in the shape of Lichess' cloud evaluation: `lookup` of the package returns the same as `shelfish serve --api`.
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";
import { serve } from "../browser/support/serve.mjs";

/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "node.js")).href
);
const DATABASE = join(ROOT, "tests/data/database/db");

test("lookups in the shape of Lichess equal the answers of the API, for any number of variations", async (t) => {
  const api = await serve(DATABASE, "--api");
  t.after(() => api.close());
  const database = await openDatabase(DATABASE);
  t.after(() => database.close());
  let compared = 0;
  for await (const line of createInterface({
    input: createReadStream(join(ROOT, "tests/data/database/records.jsonl")),
  })) {
    const { fen } = JSON.parse(line);
    for (const multiPv of [1, 3, 9]) {
      const response = await fetch(
        new URL(
          `/api/cloud-eval?${new URLSearchParams({ fen, multiPv: String(multiPv) })}`,
          api.url,
        ),
      );
      const found = await database.lookup(fen, { format: "lichess", multiPv });
      assert.deepEqual(
        found,
        response.status === 404 ? null : await response.json(),
        `${fen}, ${multiPv}`,
      );
      compared += Number(found !== null);
    }
  }
  assert.ok(compared >= 100, String(compared));
  assert.equal(
    await database.lookup("8/8/8/3k4/8/8/3K4/N7 w - -", { format: "lichess" }),
    null,
  );
  const invalid = /** @type {any} */ ({ format: "polyglot" });
  await assert.rejects(database.lookup("8/8/8/3k4/8/8/3K4/N7 w - -", invalid), {
    code: "usage",
    message: /expected "lichess"/,
  });
});
