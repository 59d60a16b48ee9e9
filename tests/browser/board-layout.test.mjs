// The layout of the page: the main parts are in view together, and no element moves during steps.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { at } from "./support/page.mjs";
import { painted, recordShifts, shifts } from "./support/shifts.mjs";
import { reads } from "./support/until.mjs";

/** Phones, tablets, a desk, and a desk of 1920 by 1080 at a zoom of 200 %. */
const SIZES = [
  { width: 320, height: 640, touch: true },
  { width: 360, height: 640, touch: true },
  { width: 740, height: 360, touch: true },
  { width: 768, height: 1024, touch: true },
  { width: 1180, height: 820, touch: true },
  { width: 960, height: 540, touch: false },
  { width: 1366, height: 768, touch: false },
];

const GAME = "site/#game=kasparov-topalov-1999";

/** Opens a game at a size and waits until all its positions are looked up. */
async function open(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {typeof SIZES[number]} */ { width, height, touch },
  /** @type {string} */ path = GAME,
) {
  // Judgments that the engine settles add and remove glyphs.
  const before = () => localStorage.setItem("settings", '{"nodes":400}');
  const page = await shelf.page(t, {
    path,
    before,
    context: { viewport: { width, height }, hasTouch: touch, isMobile: touch },
  });
  await page.locator("#graph .area[d^=M]").waitFor({ state: "attached" });
  await reads(page, "facts", /^Depth/);
  return page;
}

for (const size of SIZES) {
  const { width, height } = size;

  test(`board, score, graph and moves are in view together, and no element moves during steps, at ${width} by ${height}`, async (t) => {
    const page = await open(t, size);
    const outside = await page.evaluate(() =>
      [
        "#player-above",
        "#bar",
        "#board",
        "#player-below",
        "#score",
        "#lines",
        "#graph",
        "#moves",
        "#first",
        "#next",
        "#move",
      ].filter((name) => {
        const box = document.querySelector(name)?.getBoundingClientRect();
        return (
          !box ||
          box.width < 4 ||
          box.height < 4 ||
          box.left < 0 ||
          box.top < 0 ||
          box.right > innerWidth + 0.5 ||
          box.bottom > innerHeight + 0.5
        );
      }),
    );
    assert.deepEqual(outside, [], "all elements are completely in view");
    assert.ok(
      await page.evaluate(
        () => document.documentElement.scrollWidth <= innerWidth,
      ),
      "nothing to scroll sideways",
    );
    const covered = await page.evaluate(() => {
      const boxes = [
        "#board",
        "#evaluation",
        "#graph",
        "#moves",
        ".controls",
      ].map(
        (name) =>
          /** @type {const} */ ([
            name,
            document.querySelector(name)?.getBoundingClientRect(),
          ]),
      );
      return boxes.flatMap(([a, x], i) =>
        boxes
          .slice(i + 1)
          .flatMap(([b, y]) =>
            x &&
            y &&
            x.left < y.right - 1 &&
            y.left < x.right - 1 &&
            x.top < y.bottom - 1 &&
            y.top < x.bottom - 1
              ? [`${a} and ${b}`]
              : [],
          ),
      );
    });
    assert.deepEqual(covered, [], "no element covers another element");
    const moves = await page.locator("#moves").boundingBox();
    assert.ok(
      moves && moves.height >= 60,
      `the list is ${moves?.height} px high`,
    );
    await reads(page, "filling", /Complete/);
    // The report is in view without scrolling.
    const report = page.locator("[data-shows=report]");
    await report.click();
    const box = await at(page, "turning-points").boundingBox();
    assert.ok(box && box.y > 0 && box.x >= 0, "the turning points are shown");
    assert.ok(box.y < height && box.x + box.width <= width);
    const tab = page.locator("[data-shows=moves]");
    if (await tab.isVisible()) await tab.click();
    await page.keyboard.press("Escape");
    await recordShifts(page);
    for (let step = 0; step < 24; step++) {
      if (size.touch && step % 2) await page.locator("#next").tap();
      else await page.keyboard.press("ArrowRight");
      await painted(page);
    }
    await page.keyboard.press("End");
    await painted(page);
    await page.keyboard.press("Home");
    await painted(page);
    assert.equal(
      await page.evaluate(() => scrollY),
      0,
      "the page was not scrolled",
    );
    assert.deepEqual(await shifts(page), []);
  });
}
