// The explorer as a panel of the analysis board: it loads when it is shown, and is reached by mouse, touch and keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { START, lab } from "./support/lab.mjs";
import { SHELFISH } from "./support/paths.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

/** Waits until the panel shows the moves of the native program, with their numbers of games. */
async function shows(/** @type {Page} */ page, /** @type {string} */ fen) {
  const { moves } = JSON.parse(
    execFileSync(
      SHELFISH,
      ["explore", "-d", join(shelf.root, "site/book"), "--json", fen],
      { encoding: "utf8" },
    ),
  );
  const expected = moves.map(
    (/** @type {any} */ { san, white, draws, black }) => [
      san,
      (white + draws + black).toLocaleString("en"),
    ],
  );
  const rows = () =>
    page.$$eval("#played:not(.stale) #played-moves tr", (all) =>
      all.map((row) => [
        row.querySelector(".san")?.textContent,
        row.querySelector(".games")?.firstChild?.textContent,
      ]),
    );
  await equals(rows, expected);
}

/** Opens the board without the engine. */
const board = (
  /** @type {import("node:test").TestContext} */ t,
  /** @type {import("playwright-core").BrowserContextOptions} */ context = {},
  hash = "",
) =>
  shelf.page(t, {
    path: `site/${hash}`,
    context,
    before: () =>
      localStorage.settings ??
      localStorage.setItem("settings", '{"engine":false}'),
  });

const tab = (/** @type {Page} */ page) =>
  page.getByRole("button", { name: "Explorer", exact: true });
const ofBook = (/** @type {string} */ url) => /\/book\//.test(url);

test("the book loads when the explorer is shown, a move is an arrow, and a click plays it", async (t) => {
  const page = await board(t, { viewport: { width: 1366, height: 768 } });
  /** @type {string[]} */
  const asked = [];
  page.on(
    "request",
    (request) => void (ofBook(request.url()) && asked.push(request.url())),
  );
  await reads(page, "facts", /^Depth/);
  assert.deepEqual(asked, []);
  assert.equal(
    await page.evaluate(
      () =>
        performance
          .getEntriesByType("resource")
          .filter(({ name }) => /\/book\//.test(name)).length,
    ),
    0,
    "no file of the book is loaded before the explorer is shown",
  );
  await tab(page).click();
  await shows(page, START);
  assert.ok(asked.length > 1);
  await page.locator("#played-moves tr").nth(1).hover();
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await page
    .locator("#played-moves tr", { has: page.getByText("e4", { exact: true }) })
    .click();
  await shows(page, AFTER_E4);
  assert.equal(
    await page.locator("#moves [aria-current] .san").textContent(),
    "e4",
  );
  await until(
    async () => (await page.locator("#played-moves .score span").count()) > 3,
  );
});

test("a key shows the explorer, digits play moves, and a reload keeps the explorer open", async (t) => {
  const page = await board(t);
  await reads(page, "facts", /^Depth/);
  await page.keyboard.press("1");
  assert.equal(
    await page.locator("#moves [aria-current] .san").count(),
    0,
    "digits play no move without the explorer",
  );
  await page.keyboard.press("t");
  await shows(page, START);
  assert.equal(await tab(page).getAttribute("aria-pressed"), "true");
  await page.keyboard.press("1");
  await shows(page, AFTER_E4);
  await page.waitForURL(/#moves=e2e4&ply=1$/);
  await page.locator("#played-moves button").first().focus();
  await page.keyboard.press("Tab");
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  const second = await page.locator("#played-moves .san").nth(1).textContent();
  await page.keyboard.press("Enter");
  await until(
    async () =>
      (await page.locator("#moves [aria-current] .san").textContent()) ===
      second,
  );
  await page.keyboard.press("ArrowLeft");
  await shows(page, AFTER_E4);
  await page.reload();
  await shows(page, AFTER_E4);
  assert.equal(await tab(page).getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "Report" }).click();
  await page.reload();
  await reads(page, "facts", /^Depth/);
  assert.equal(await page.getByTestId("explorer").isVisible(), false);
});
