// Headers and layouts of all pages on small screens, at a zoom of 200 % and on desks: the same links everywhere, and nothing out of reach.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PAGES = [
  "",
  "play.html",
  "explorer.html",
  "openings.html",
  "precedent.html",
  "how.html",
  "bookmarklet.html",
];
const NAMES = ["Board", "Play", "Explorer", "My openings"];
const FURTHER = [
  "Precedent",
  "How it works",
  "Bookmarklet",
  "Embed",
  "Documentation",
];

/** Landscape phones, and desks of 1366 by 768 and 1920 by 1080 at a zoom of 200 %. */
const LOW = {
  "740 by 360": [740, 360, 1],
  "960 by 540 at 200 %": [960, 540, 2],
};

/** Returns the options of a browser context with a screen. */
const screen = (
  /** @type {number} */ width,
  /** @type {number} */ height,
  scale = 1,
  touch = false,
) => ({
  context: {
    viewport: { width, height },
    deviceScaleFactor: scale,
    hasTouch: touch,
  },
});

/** Returns the texts of the visible elements that are complete in the window. */
const inView = (/** @type {Page} */ page, /** @type {string} */ selector) =>
  page.$$eval(selector, (all) =>
    all.flatMap((each) => {
      const { left, top, right, bottom, width } = each.getBoundingClientRect();
      return width > 0 &&
        left >= 0 &&
        top >= 0 &&
        right <= innerWidth + 0.5 &&
        bottom <= innerHeight + 0.5
        ? [each.textContent?.trim() ?? ""]
        : [];
    }),
  );

for (const [width, height] of /** @type {const} */ ([
  [360, 640],
  [683, 384],
])) {
  test(`the menu of every page has the same links and fits the screen of ${width} by ${height}`, async (t) => {
    for (const path of PAGES) {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        ...screen(width, height, 1, true),
      });
      await page.getByTestId("menu").tap();
      assert.deepEqual(
        await inView(page, "#nav a"),
        NAMES,
        `links of ${path || "the board"}`,
      );
      assert.deepEqual(
        await page.locator("footer a").allInnerTexts(),
        FURTHER,
        `footer of ${path || "the board"}`,
      );
      assert.equal(
        await page.locator(":is(#nav, footer) [aria-current]").count(),
        1,
      );
      const buttons = await page.locator("#nav button").count();
      assert.equal(
        (await inView(page, "#nav button")).length,
        buttons,
        "all tools are in view",
      );
      const { x, y } =
        (await page.getByTestId("menu").boundingBox()) ??
        assert.fail("no menu");
      assert.deepEqual(
        [Math.round(x), y < 10],
        [width - 48, true],
        "the menu has the same place",
      );
    }
  });
}

for (const [name, [width, height, scale]] of Object.entries(LOW)) {
  test(`the moves of Explorer and Precedent are in view next to the board at ${name}`, async (t) => {
    for (const [path, row] of [
      ["explorer.html", "#played-moves tr"],
      ["precedent.html", "#moves li"],
    ]) {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        ...screen(Number(width), Number(height), scale),
      });
      await page.locator(`.panel[aria-busy=false]`).waitFor();
      const expected =
        (path === "explorer.html" ? 5 : 2) - (height === 320 ? 2 : 0);
      const rows = await inView(page, String(row));
      assert.ok(rows.length >= expected, `${rows.length} rows of ${path}`);
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
        "nothing to scroll sideways",
      );
    }
  });
}
