// The documentation: links, accessibility, layout, search, and the snippets of the guides that are for pages.
import assert from "node:assert/strict";
import { cpSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fencesOf } from "../npm/support/fences.mjs";
import { findings } from "./support/axe.mjs";
import { deadLinks } from "./support/dead-links.mjs";
import { BLANK } from "./support/fixtures.mjs";
import * as shelf from "./support/shelf.mjs";
import { PACKAGE, ROOT, SITE } from "./support/paths.mjs";
import { until } from "./support/until.mjs";

const DOCS = join(SITE, "docs");
const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => statSync(join(DOCS, name)).isFile());
const pages = files.filter((name) => name.endsWith(".html"));

/** Opens a page of the documentation. */
const opened = (
  /** @type {import("node:test").TestContext} */ t,
  path = "",
  /** @type {import("playwright-core").BrowserContextOptions} */ context = {},
) => shelf.page(t, { path: `site/docs/${path}`, context });

test("no link of the documentation is dead", () => {
  assert.ok(pages.length > 30, `${pages.length} pages`);
  const names = pages.map((name) => `docs/${name}`);
  assert.deepEqual(deadLinks(SITE, names), []);
});

test("the documentation is small", () => {
  const bytes = files.reduce(
    (sum, name) => sum + statSync(join(DOCS, name)).size,
    0,
  );
  assert.ok(bytes < 4_500_000, `${bytes} bytes`);
});

/** Rules of axe that TypeDoc's own markup breaks, or a first column without a heading. */
const ALLOWED =
  /^(heading-order|nested-interactive|target-size|td-has-header):/;
const checked = [
  ...pages.filter((name) => !name.startsWith("shelfish-")),
  "shelfish-Database.html",
  "shelfish-openDatabase.html",
];

for (const [scheme, width, height] of /** @type {const} */ ([
  ["light", 1366, 768],
  ["dark", 390, 844],
])) {
  test(`axe finds nothing, and no page scrolls sideways, at ${width} by ${height} in ${scheme}`, async (t) => {
    const page = await opened(t, "", {
      colorScheme: scheme,
      viewport: { width, height },
    });
    for (const name of checked) {
      await page.goto(new URL(`site/docs/${name}`, shelf.server.url).href);
      /** @type {string[]} */
      const found = await findings(page);
      assert.deepEqual(
        found.filter((finding) => !ALLOWED.test(finding)),
        [],
        name,
      );
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
        `${name} scrolls sideways`,
      );
    }
  });
}

test("the search finds a guide, and a reader opens it by keys", async (t) => {
  const page = await opened(t, "shelfish.html");
  await page.keyboard.press("/");
  await page.locator("#tsd-search-input").fill("measurements");
  const first = page.locator("#tsd-search-results a").first();
  await until(
    async () => /Measurements/.test((await first.textContent()) ?? ""),
    "the measurements are found",
  );
  await first.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/measurements\.html/);
});

/** Returns the code of the guides with the addresses of the test server. */
const local = (/** @type {string} */ code) =>
  code
    .replaceAll(
      "https://example.org/evals/",
      new URL("famous/", shelf.server.url).href,
    )
    .replaceAll('"/evals/"', '"/famous/"')
    .replaceAll("/shelfish/", "/pkg/");

for (const { document, code } of fencesOf("docs/guides/ten-minutes.md").filter(
  ({ language }) => language === "html",
)) {
  const [, title = ""] = /<title>(.*)<\/title>/.exec(code) ?? [];
  test(`the page “${title}” of ${document} shows a score`, async (t) => {
    const name = `${title.replaceAll(" ", "-")}.html`;
    writeFileSync(
      join(shelf.root, name),
      local(code).replace("<title>", '<link rel="icon" href="data:,"><title>'),
    );
    const page = await shelf.page(t, { path: name });
    const shown = () =>
      page.evaluate(
        () =>
          globalThis.document.querySelector("#score")?.textContent ??
          globalThis.document.querySelector("shelfish-game")?.shadowRoot
            ?.textContent ??
          "",
      );
    await until(async () => /[+-]\d\.\d\d/.test(await shown()), "a score");
  });
}

test("the Worker of replace.md answers in the form of stockfish.js", async (t) => {
  const code =
    fencesOf("docs/guides/replace.md")
      .map((fence) => fence.code)
      .find((text) => text.includes("new Worker")) ?? assert.fail("no snippet");
  writeFileSync(join(shelf.root, "replace.js"), local(code));
  writeFileSync(
    join(shelf.root, "replace.html"),
    `${BLANK}<script type="module" src="/replace.js"></script>`,
  );
  const page = await shelf.page(t, {
    path: "replace.html",
    allow: /^log: (info|bestmove) /,
  });
  await until(
    () => page.console.some((line) => /^log: bestmove \w+/.test(line)),
    "a move",
  );
  assert.ok(
    page.console.some((line) => /^log: info string .*database/.test(line)),
    page.console.join("\n"),
  );
});

test("the service worker of replace.md answers an unchanged request to Lichess", async (t) => {
  const [{ code } = assert.fail("no snippet")] = fencesOf(
    "docs/guides/replace.md",
  ).filter(({ language }) => language === "html");
  for (const name of ["shelfish-lichess-sw.js", "shelfish_bg.wasm"])
    cpSync(join(PACKAGE, name), join(shelf.root, name));
  cpSync(join(shelf.root, "famous"), join(shelf.root, "evals"), {
    recursive: true,
  });
  cpSync(join(ROOT, "tests/data/book/db"), join(shelf.root, "book"), {
    recursive: true,
  });
  writeFileSync(join(shelf.root, "unchanged.html"), BLANK + code);
  const page = await shelf.page(t, { path: "unchanged.html" });
  await until(
    () => page.evaluate(() => navigator.serviceWorker.controller !== null),
    "the service worker controls the page",
  );
  const fen = encodeURIComponent(
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
  );
  const answer = await page.evaluate(
    async (address) => (await fetch(address)).json(),
    `https://lichess.org/api/cloud-eval?fen=${fen}`,
  );
  assert.match(answer.pvs[0].moves, /^[a-h][1-8][a-h][1-8]/);
});
