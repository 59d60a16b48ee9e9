// The engine on the board: it evaluates positions that the database lacks, marks them, and can be stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { at, open, withoutEngine } from "./support/page.mjs";
import * as shelf from "./support/shelf.mjs";
import { recordShifts, shifts } from "./support/shifts.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const ABSENT = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const ABSENT_PATH = `site/#fen=${ABSENT.replaceAll(" ", "_")}`;
/** A game that leaves every database of good games after its first moves. */
const UNSEEN =
  "1. a4 a5 2. h4 h5 3. Ra3 Ra6 4. Rb3 Rb6 5. Rc3 Rc6 6. Rb3 Rb6 7. e4 e5 8. Nf3 Nc6 *";
const DESK = { viewport: { width: 1366, height: 768 } };

/** The passes of the analysis need little time. */
const SHORT = {
  path: "site/",
  before: () =>
    localStorage.getItem("settings") ??
    localStorage.setItem("settings", '{"nodes":4000}'),
};

for (const [width, height, isPhone] of /** @type {const} */ ([
  [390, 844, true],
  [1366, 768, false],
])) {
  const context = {
    viewport: { width, height },
    hasTouch: isPhone,
    isMobile: isPhone,
  };

  test(`the engine's score of an unknown position is marked, and no element moves, at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, { path: ABSENT_PATH, context });
    await reads(page, "facts", /^Engine, depth ([6-9]|\d\d)/);
    await recordShifts(page);
    await reads(page, "facts", /^Engine, depth (1[2-9]|[2-9]\d)/);
    await reads(page, "score", /^([+-]?\d+\.\d\d|#-?\d+)$/);
    const lines = page.locator("#evaluation.borrowed #lines ol > li");
    assert.equal(await lines.count(), 2);
    await reads(page, "lines", /does not have this position/);
    assert.deepEqual(await shifts(page), []);
    // A move ends the search and starts a search of the next position.
    await page.locator("#lines .line button").first().click();
    await reads(page, "facts", /^(Engine, depth|Depth)/);
  });
}

test("the engine evaluates unknown positions of a game, graph and report mark them, and a game that is opened again needs no search", async (t) => {
  const page = await shelf.page(t, SHORT);
  await open(page, UNSEEN);
  await reads(page, "filling", /Complete/);
  await equals(() => page.locator("#graph .gap").count(), 0);
  await reads(page, "report-share", /17 of 17 positions are known/);
  await reads(
    page,
    "report-share",
    /[1-9]\d* positions were evaluated by the eng/,
  );
  const report = () =>
    page.locator("#report td, #report .share, #moves .glyph").allTextContents();
  const first = await report();
  /** @type {string[]} */
  const workers = [];
  page.on("worker", (worker) => workers.push(worker.url()));
  await page.reload();
  await reads(page, "filling", /Complete/);
  assert.deepEqual(await report(), first);
  assert.deepEqual(
    workers.filter((url) => /engine/.test(url)),
    [],
  );
  await page.keyboard.press("End");
  await reads(page, "facts", /^Engine, depth \d+/);
  assert.match(
    (await page.getByRole("slider").getAttribute("aria-valuetext")) ?? "",
    /^\d+… \w+, [+-]\d/,
  );
});

test("the page shows the progress of the analysis, which can be stopped and resumed", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: () => localStorage.setItem("settings", '{"nodes":40000000}'),
    context: DESK,
  });
  // The first moves are not in the database, so all later positions are new.
  await open(page, UNSEEN);
  const stop = at(page, "stop-engine");
  await reads(page, "filling", /Judging: \d+ %/);
  await stop.press("Enter");
  await reads(page, "filling", /Stopped/);
  await page.keyboard.press("ArrowRight");
  await reads(page, "filling", /Stopped/);
  await at(page, "resume-engine").press("Enter");
  await reads(page, "filling", /Judging: \d+ %/);
  await stop.press("Enter");
  await at(page, "analysis-depth").selectOption({ label: "Quick" });
  await reads(page, "filling", /Judging: \d+ %/);
  await page.keyboard.press("End");
  await reads(page, "facts", /^Engine, depth \d+/);
  assert.match(
    (await page.getByRole("slider").getAttribute("aria-valuetext")) ?? "",
    /^\d+… \w+, [+-]\d/,
  );
});

test("judgments that are not settled have no mark, and count nowhere", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: DESK,
  });
  // A shallow evaluation is only a hint.
  await open(
    page,
    "1. a4 { [%eval 0.0] } a5 { [%eval 0.1] } 2. h4 { [%eval 0.0] } h5 { [%eval 0.1] } 3. Rh3 { [%eval -1.4,8] } *",
  );
  await reads(page, "report-share", /^Based on 3 of 5 moves.*dash.*not final/);
  await page.keyboard.press("End");
  await page
    .locator("#moves [aria-current] .san", { hasText: "Rh3" })
    .waitFor();
  assert.equal(
    await page
      .locator("#report .count, #graph .bad, .glyph:not(:empty)")
      .count(),
    0,
  );
  await reads(page, "judgment", /^$/);
  const cells = await page.locator("#report tbody td").allTextContents();
  assert.ok(!cells.includes("0"), "a move that is not judged may be a blunder");
});

test("the position on the board is searched deeper on request, with the chosen number of lines, until the search is stopped", async (t) => {
  const page = await shelf.page(t, { path: "site/", context: DESK });
  await reads(page, "facts", /^Depth/);
  const deeper = at(page, "go-deeper");
  await page
    .getByRole("combobox", { name: "Number of lines of the engine" })
    .selectOption({ label: "3 lines" });
  await deeper.press("Enter");
  await reads(page, "evaluation", /Engine, depth \d+/);
  assert.equal(await deeper.getAttribute("aria-pressed"), "true");
  await deeper.press("Enter");
  assert.equal(await deeper.getAttribute("aria-pressed"), "false");
  await page.goto(shelf.url(ABSENT_PATH));
  await page.reload();
  await equals(() => page.locator("#lines ol > li").count(), 3);
});

test("the engine can be turned off in the settings", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await reads(page, "facts", /^Depth/);
  const toggle = async () => {
    await page.evaluate(() => document.getElementById("settings")?.click());
    await at(page, "set-engine").click();
    await page.keyboard.press("Escape");
  };
  await toggle();
  await open(page, ABSENT);
  await reads(page, "facts", /^Not in this database/);
  await toggle();
  await reads(page, "facts", /^Engine, depth/);
});
