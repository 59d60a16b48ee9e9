// What axe finds on the page, in both schemes and in its several states.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds, with where; its experimental rules and those of best practice are run too. */
async function findings(/** @type {Page} */ page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (globalThis).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"] });
    return violations.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes.map((/** @type {any} */ { html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join(" | ")}`);
  });
}

const known = (/** @type {Page} */ page) => page.waitForFunction(() => document.querySelector("#facts")?.textContent?.startsWith("Depth"));

/** @type {Record<string, { hash: string, act?: (page: Page) => Promise<unknown> }>} */
const STATES = {
  "the starting position": { hash: "" },
  "a game": { hash: "#game=kasparov-topalov-1999&ply=46" },
  "a position that is not in the database": {
    hash: "#fen=8/8/8/3k4/8/8/3K4/N7_w_-_-_0_1",
    act: (page) => page.waitForFunction(() => document.querySelector("#facts")?.textContent?.startsWith("Not in")),
  },
  "the settings": { hash: "", act: (page) => page.evaluate(() => document.getElementById("settings")?.click()).then(() => page.getByTestId("settings-dialog").waitFor()) },
  "the help": { hash: "", act: (page) => page.keyboard.press("?").then(() => page.getByTestId("help-dialog").waitFor()) },
  "what can be taken along": { hash: "#game=morphy-isouard-1858&ply=5", act: (page) => page.evaluate(() => document.getElementById("share")?.click()).then(() => page.getByTestId("share-dialog").waitFor()) },
  "the dialog that opens a game": { hash: "", act: (page) => page.getByTestId("open").click().then(() => page.getByTestId("open-dialog").waitFor()) },
};

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  for (const [width, height] of /** @type {const} */ ([[1366, 768], [360, 740]])) {
    for (const [state, { hash, act }] of Object.entries(STATES)) {
      test(`axe finds nothing at ${state}, ${colorScheme}, ${width} by ${height}`, async (t) => {
        const page = await shelf.page(t, { path: `site/${hash}`, context: { viewport: { width, height }, colorScheme, reducedMotion: "reduce" } });
        if (act) await act(page);
        else await known(page);
        assert.deepEqual(await findings(page), []);
      });
    }
  }
}
