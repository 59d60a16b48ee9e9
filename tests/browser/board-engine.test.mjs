// The engine on the analysis board: it evaluates positions that the database lacks, marks them, and can be stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { at, open, withoutEngine } from "./support/page.mjs";
import { recordShifts, shifts } from "./support/shifts.mjs";
import { reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const ABSENT = "site/#fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8_w_-_-_0_1";
/** A game that leaves every database of good games after its first moves. */
const UNSEEN =
  "1. a4 a5 2. h4 h5 3. Ra3 Ra6 4. Rb3 Rb6 5. Rc3 Rc6 6. Rb3 Rb6 7. e4 e5 8. Nf3 Nc6 *";
const SIZES = [
  { width: 390, height: 844, touch: true },
  { width: 1366, height: 768, touch: false },
];

/** The passes of the analysis need little time. */
const fewNodes = () =>
  localStorage.getItem("settings") ??
  localStorage.setItem("settings", '{"nodes":4000}');

for (const { width, height, touch } of SIZES) {
  const context = {
    viewport: { width, height },
    hasTouch: touch,
    isMobile: touch,
  };

  test(`the engine's score of an unknown position is marked, and no element moves, at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, { path: ABSENT, context });
    await reads(page, "facts", /^Engine, depth ([6-9]|\d\d)/);
    await recordShifts(page);
    await reads(page, "facts", /^Engine, depth (1[2-9]|[2-9]\d)/);
    assert.match(
      (await at(page, "score").textContent()) ?? "",
      /^([+-]?\d+\.\d\d|#-?\d+)$/,
    );
    assert.equal(
      await page.locator("#evaluation.borrowed #lines ol > li").count(),
      2,
    );
    await reads(page, "lines", /does not have this position/);
    assert.deepEqual(await shifts(page), []);
    // A move ends the search and starts a search of the next position.
    await page.locator("#lines .line button").first().click();
    await reads(page, "facts", /^(Engine, depth|Depth)/);
  });

  test(`the engine evaluates unknown positions of a game, and graph and report mark them, at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/",
      context,
      before: fewNodes,
    });
    await open(page, UNSEEN);
    await reads(page, "coverage", /by the engine/);
    await until(() =>
      page.evaluate(
        () => document.querySelectorAll("#graph .gap").length === 0,
      ),
    );
    await reads(page, "report-share", /positions were evaluated by the engine/);
    await reads(page, "report-share", /17 of 17 positions are known/);
    await reads(page, "filling", /Complete/);
    assert.equal(
      (await at(page, "coverage").textContent())?.match(
        /\d+(?= by the engine)/,
      )?.[0],
      (await at(page, "report-share").textContent())?.match(
        /\d+(?= positions were evaluated by the engine)/,
      )?.[0],
    );
    assert.match(
      (await page.getByRole("slider").getAttribute("aria-valuemax")) ?? "",
      /^16$/,
    );
    await page.keyboard.press("End");
    await reads(page, "facts", /^Engine, depth \d+/);
    assert.match(
      (await page.getByRole("slider").getAttribute("aria-valuetext")) ?? "",
      /by the engine, depth \d+$/,
    );
  });
}

test("the page shows the progress of the analysis, which can be stopped and resumed, and the next game is analysed too", async (t) => {
  const page = await shelf.page(t, { path: "site/", before: fewNodes });
  const long = Array.from(
    { length: 60 },
    (_, n) =>
      `${n + 4}. ${["Rb3 Rb6", "Rc3 Rc6", "Rd3 Rd6", "Ra3 Ra6"][n % 4]}`,
  ).join(" ");
  await page.evaluate(() =>
    localStorage.setItem("settings", '{"nodes":40000000}'),
  );
  await page.reload();
  // The first moves are not in the database, so all later positions are new.
  await open(page, `1. a4 a5 2. h4 h5 3. Ra3 Ra6 ${long} *`);
  const stop = await at(page, "stop-engine").elementHandle();
  await reads(page, "filling", /Pass 1 of 4: \d+ of \d+/);
  await stop?.focus();
  await stop?.press("Enter");
  await reads(page, "filling", /Stopped in pass 1 of 4/);
  assert.ok(
    await stop?.evaluate((stop) => stop === document.activeElement),
    "the button keeps the focus",
  );
  await page.keyboard.press("ArrowRight");
  await reads(page, "filling", /Stopped in pass 1 of 4/);
  await at(page, "resume-engine").press("Enter");
  await reads(page, "filling", /Pass 1 of 4: \d+ of \d+/);
  await at(page, "stop-engine").press("Enter");
  await at(page, "analysis-depth").selectOption({ label: "Quick" });
  await reads(page, "filling", /Pass \d of 4/);
  await page.evaluate(() => localStorage.setItem("settings", '{"nodes":4000}'));
  await page.reload();
  await open(page, UNSEEN);
  await reads(page, "filling", /Complete/);
  await reads(page, "report-share", /17 of 17 positions are known/);
});

test("a game that is opened again shows its settled report without a search, and the report is the same", async (t) => {
  const page = await shelf.page(t, { path: "site/", before: fewNodes });
  await open(page, UNSEEN);
  await reads(page, "filling", /Complete/);
  const report = () =>
    page.evaluate(() =>
      [
        ...document.querySelectorAll(
          "#report td, #report .share, #moves .glyph",
        ),
      ].map(({ textContent }) => textContent),
    );
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
});

test("judgments that are not settled are hollow, are called provisional, and count nowhere", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: { viewport: { width: 1366, height: 768 } },
  });
  // A shallow evaluation is only a hint.
  await open(
    page,
    "1. a4 { [%eval 0.0] } a5 { [%eval 0.1] } 2. h4 { [%eval 0.0] } h5 { [%eval 0.1] } 3. Rh3 { [%eval -1.4,8] } *",
  );
  await reads(
    page,
    "report-share",
    /1 judgment is provisional and not counted/,
  );
  assert.equal(await page.locator("#report .count").count(), 0);
  assert.equal(
    await page.locator("#graph .bad.mistake.provisional").count(),
    1,
  );
  await page.keyboard.press("End");
  await reads(page, "judgment", /^Mistake \(provisional\)\./);
  assert.equal(
    await page
      .locator("#moves [aria-current] .glyph.provisional")
      .textContent(),
    "?",
  );
  await page.keyboard.press("Home");
  await page.keyboard.press("m");
  await page
    .locator("#moves [aria-current][data-testid=start]")
    .waitFor({ state: "attached" });
});

test("the position on the board is searched deeper on request, with the chosen number of lines, until the search is stopped", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    context: { viewport: { width: 1366, height: 768 } },
  });
  await reads(page, "facts", /^Depth/);
  const deeper = page.getByRole("button", { name: "Go deeper" });
  await page
    .getByRole("combobox", { name: "Number of lines of the engine" })
    .selectOption({ label: "3 lines" });
  await deeper.press("Enter");
  await reads(page, "evaluation", /Engine, depth \d+/);
  assert.equal(
    await at(page, "go-deeper").getAttribute("aria-pressed"),
    "true",
  );
  await at(page, "go-deeper").press("Enter");
  assert.equal(
    await at(page, "go-deeper").getAttribute("aria-pressed"),
    "false",
  );
  assert.equal(
    await page.evaluate(
      () => JSON.parse(localStorage.getItem("settings") ?? "{}").lines,
    ),
    3,
  );
  await page.goto(shelf.url(ABSENT));
  await page.reload();
  await until(() =>
    page.evaluate(
      () => document.querySelectorAll("#lines ol > li").length === 3,
    ),
  );
});

test("the engine can be turned off in the settings", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await reads(page, "facts", /^Depth/);
  await page.evaluate(() => document.getElementById("settings")?.click());
  await at(page, "set-engine").click();
  await page.keyboard.press("Escape");
  await open(page, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1");
  await reads(page, "facts", /^Not in this database/);
  await page.evaluate(() => document.getElementById("settings")?.click());
  await at(page, "set-engine").click();
  await page.keyboard.press("Escape");
  await reads(page, "facts", /^Engine, depth/);
});
