// The explorer as a panel of the analysis board: it loads when it is shown, and is reached by mouse, touch and keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
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
const ofBook = (/** @type {string} */ url) =>
  /shelfish_book_bg|\/book\//.test(url);

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
          .filter(({ name }) => /shelfish_book_bg|\/book\//.test(name)).length,
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

test("another filter counts other games and stays after a reload, and a famous game opens in the position", async (t) => {
  const page = await board(
    t,
    {},
    "#moves=e2e4,e7e5,g1f3,d7d6,d2d4,c8g4,d4e5,g4f3,d1f3,d6e5,f1c4&ply=11",
  );
  await tab(page).click();
  await page.locator("#played-moves tr").first().waitFor();
  const games = () => page.getByTestId("reached").textContent();
  const all = await games();
  await page.getByTestId("chosen").click();
  await page.getByRole("button", { name: "No rating" }).click();
  await until(async () => (await games()) !== all);
  const filtered = await games();
  await page.reload();
  await reads(page, "chosen", /^Filters: Rating: Below 2200, .*2600 and more$/);
  assert.equal(await games(), filtered);
  await page.getByTestId("chosen").click();
  await page.getByRole("button", { name: "No rating" }).click();
  await until(async () => (await games()) === all);
  const link = page.locator("#references a", { hasText: "Isouard" });
  await link.click();
  await page.waitForURL(/#game=morphy-isouard-1858&ply=11$/);
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("#moves [aria-current] .san")?.textContent ===
        "Bc4",
    ),
  );
});

for (const [name, [width, height, scale]] of Object.entries({
  "390 by 844": [390, 844, 1],
  "844 by 390": [844, 390, 1],
  "683 by 384 at 200 %": [683, 384, 2],
  "1920 by 1080": [1920, 1080, 1],
})) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`the explorer of the board is reached by touch, and axe finds no violation, at ${name}, ${colorScheme}`, async (t) => {
      const page = await board(t, {
        viewport: { width: Number(width), height: Number(height) },
        deviceScaleFactor: scale,
        hasTouch: true,
        colorScheme,
        reducedMotion: "reduce",
      });
      await reads(page, "facts", /^Depth/);
      await tab(page).tap();
      await shows(page, START);
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
        "nothing to scroll sideways",
      );
      const outside = await page.$$eval(
        "#played-moves tr:not([hidden]) > *, #filters, #references",
        (all) =>
          all.filter((each) => {
            const { left, right, width } = each.getBoundingClientRect();
            return width > 0 && (left < 0 || right > innerWidth + 0.5);
          }).length,
      );
      assert.equal(outside, 0, "no row is cut off");
      await until(
        async () =>
          (await page.locator("#played-moves .score span").count()) > 3,
      );
      assert.deepEqual(await findings(page), []);
      const jump = page.getByTestId("to-references");
      assert.equal(
        await jump.isVisible(),
        Number(height) <= 500 || Number(width) < 600,
        "only small screens have a button that scrolls to the games",
      );
      if (await jump.isVisible()) {
        await jump.tap();
        await until(() =>
          page
            .locator("#references-title")
            .evaluate(
              (title) =>
                title === document.activeElement &&
                title.getBoundingClientRect().bottom <= innerHeight &&
                title.getBoundingClientRect().top >= 0,
            ),
        );
        assert.ok(
          await page.evaluate(
            () =>
              scrollX === 0 &&
              document.documentElement.scrollWidth <= innerWidth,
          ),
          "nothing to scroll sideways",
        );
      }
      await page
        .locator("#played-moves tr", {
          has: page.getByText("e4", { exact: true }),
        })
        .tap();
      await shows(page, AFTER_E4);
    });
  }
}
