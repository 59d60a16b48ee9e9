// The first snippet of the package's README on a page without a bundler.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";
import { DUMPS, PACKAGE } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab({ own: true })));
after(() => shelf.close());

test("the first snippet of the README runs on a page with an import map, and prints the evaluation of the dump", async (t) => {
  const snippet =
    /```js\n([\s\S]*?)```/.exec(
      readFileSync(join(PACKAGE, "README.md"), "utf8"),
    )?.[1] ?? assert.fail("the README has no snippet");
  const map = JSON.stringify({
    imports: { shelfish: "/pkg/index.js" },
  });
  writeFileSync(
    join(shelf.root, "snippet.html"),
    `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Snippet</title><script type="importmap">${map}</script><script type="module">${snippet}</script>`,
  );
  const page = await shelf.page(t, { path: "snippet.html", allow: /^log: / });
  await until(() => page.console.length === 2);
  const { depth, pvs = [] } =
    best(
      truth(...DUMPS).get(
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
      ) ?? [],
    ) ?? {};
  assert.match(
    String(page.console[0]),
    new RegExp(
      `^log: \\+${((pvs[0]?.cp ?? 0) / 100).toFixed(2)} ${depth} \\w+`,
    ),
  );
});
