// The snippets of the package's README on a page without a bundler.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AFTER_E4 } from "./support/chromium.mjs";
import { BLANK } from "./support/fixtures.mjs";
import { DUMPS, PACKAGE } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, scoreOf, truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");

/** Returns the first snippet of a language that matches, with the addresses of this server. */
function snippet(/** @type {RegExp} */ part, language = "js") {
  const fences = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  const code =
    [...readme.matchAll(fences)]
      .map(([, code]) => String(code))
      .find((code) => part.test(code)) ?? assert.fail(String(part));
  return code
    .replace(
      /https:\/\/example\.org\/evals\/(manifest\.json)?/g,
      shelf.url("db/manifest.json"),
    )
    .replaceAll("https://example.org/book/", shelf.url("site/book/"))
    .replaceAll('"shelfish/worker"', '"/pkg/worker.js"')
    .replaceAll('"shelfish"', '"/pkg/index.js"')
    .replaceAll("/shelfish/", "/pkg/");
}

const write = (/** @type {string} */ name, /** @type {string} */ text) =>
  writeFileSync(join(shelf.root, name), text);

test("the first snippet of the README prints the evaluation of the dump", async (t) => {
  write(
    "snippet.html",
    `${BLANK}<script type="module">${snippet(/./)}</script>`,
  );
  const page = await shelf.page(t, { path: "snippet.html", allow: /^log: / });
  await until(() => page.console.length === 2);
  const { depth, pvs } = best(truth(...DUMPS).get(AFTER_E4) ?? []) ?? {};
  assert.ok(
    page.console[0]?.startsWith(`log: ${scoreOf(pvs?.[0])} ${depth} `),
    page.console[0],
  );
});

test("the Worker and the element of the README show evaluations", async (t) => {
  write("evals.js", snippet(/^serve\(/m));
  write("page.js", snippet(/connect\(worker/));
  write(
    "pasted.html",
    `${BLANK}<body><script type="module" src="/page.js"></script>${snippet(/<shelfish-game/, "html")}`,
  );
  const page = await shelf.page(t, { path: "pasted.html", allow: /^log: / });
  await until(() => /log: .*evaluations/.test(page.console.join()));
  await page
    .locator("shelfish-game .facts", { hasText: /depth/i })
    .first()
    .waitFor();
});
