// The report: marks of good moves, names, and judgments in variations.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";
import { at, withoutEngine } from "./support/page.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const pgn = (/** @type {string} */ text) =>
  `site/#pgn=${encodeURIComponent(text)}`;

/** The report and the moves are in view together. */
const DESK = { viewport: { width: 1366, height: 768 } };

const NAMES = `[White "Fischer, Robert James"]\n[Black "Nepomniachtchi Constantinopolitan"]\n
1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 *`;

for (const [width, height, colorScheme] of /** @type {const} */ ([
  [1366, 768, "light"],
  [1920, 1080, "dark"],
])) {
  test(`names in the report break between words only at ${width} by ${height}, ${colorScheme}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/#game=kasparov-topalov-1999",
      before: withoutEngine,
      context: { viewport: { width, height }, colorScheme },
    });
    await reads(page, "report", /Average loss/);
    assert.deepEqual(
      await page.$$eval("#report .who", (all) =>
        all.map((each) => [each.textContent, each.getClientRects().length]),
      ),
      [
        ["Kasparov", 1],
        ["Topalov", 1],
      ],
    );
    await page.goto(new URL(pgn(NAMES), shelf.server.url).href);
    await reads(page, "report", /Fischer/);
    const names = await page.$$eval("#report .who", (all) =>
      all.map((each) => ({
        text: each.textContent,
        high: each.getBoundingClientRect().height,
      })),
    );
    assert.deepEqual(
      names.map(({ text }) => text),
      ["Fischer", "Nepomniachtchi Constantinopolitan"],
    );
    for (const { text, high } of names)
      assert.ok(high < 48, `${text}: ${high} px`);
    const [report, table] = await Promise.all(
      ["#report", "#report table"].map((selector) =>
        page.$eval(selector, (each) => [each.scrollWidth, each.clientWidth]),
      ),
    );
    assert.ok(
      (report?.[0] ?? 0) <= (report?.[1] ?? 0) &&
        (table?.[0] ?? 0) <= (table?.[1] ?? 0),
    );
    assert.deepEqual(await findings(page), []);
  });
}

test("the engine marks the only move that keeps the win, in the list, the report and the row of the judgment", async (t) => {
  const settings = () => localStorage.setItem("settings", '{"nodes":20000}');
  const page = await shelf.page(t, {
    path: pgn("1. e4 e5 2. Qh5 Nc6 3. Bc4 d6 4. Qxf7#"),
    before: settings,
    context: DESK,
  });
  await reads(page, "filling", /Complete/);
  // The report begins with the moves that decided the game, in words.
  const turns = at(page, "turning-points").getByRole("button");
  await equals(
    () => turns.allTextContents(),
    ["3… d6?? from an even game to a lost one"],
  );
  await turns.click();
  await reads(page, "judgment", /^Blunder/);
  const mate = page.locator("[data-testid=move]", { hasText: "Qxf7#" });
  assert.equal(await mate.locator(".glyph.good").textContent(), "!");
  await at(page, "white-great").click();
  await reads(
    page,
    "judgment",
    /^Great move: the only move that keeps the result\.$/,
  );
  assert.match(
    (await at(page, "graph").getAttribute("aria-valuetext")) ?? "",
    /great move/i,
  );
  await at(page, "help").click();
  await reads(
    page,
    "help-dialog",
    /every other legal move loses at least 0\.2 winning chances/,
  );
  assert.deepEqual(await findings(page), []);
});

/** No database has these moves, and some of them are bad. */
const BAD = pgn("1. a4 a5 2. h4 h5 3. Ra3 Ra6 4. Rb3 Rb6 5. Rb5 Rh6 *");
/** The file has its own opinion of two moves. */
const OPINION = pgn(
  "1. a4 a5 2. h4 $3 h5 3. Ra3 $4 Ra6 4. Rb3 Rb6 5. Rb5 Rh6 *",
);
const quick = () =>
  localStorage.getItem("settings") ??
  localStorage.setItem("settings", '{"nodes":20000}');
const GLYPHS = "#moves .glyph:not(:empty), #graph .bad";
const figures = (/** @type {Page} */ page) =>
  page
    .locator("#report td:not(:empty), #report .share, #moves button")
    .allTextContents();

test("until the report is settled, the list and the graph have scores only, and the report has dashes", async (t) => {
  const page = await shelf.page(t, { path: BAD, before: quick, context: DESK });
  await at(page, "analysis-depth").selectOption({ label: "Deep" });
  await reads(page, "filling", /Judging: \d+ %, about \d+ (s|min) left/);
  await reads(page, "moves", /Rb5[+-]\d/);
  for (const cell of await page.locator("#report tbody td").allTextContents())
    assert.equal(cell, "–");
  assert.equal(await page.locator(GLYPHS).count(), 0);
  await at(page, "stop-engine").click();
  await reads(page, "filling", /Stopped/);
});

test("a report is not replaced by a weaker one: after a reload, without an engine, or with fewer nodes", async (t) => {
  const page = await shelf.page(t, { path: BAD, before: quick, context: DESK });
  /** Opens the page again with settings, and returns its figures. */
  const again = async (/** @type {string} */ settings) => {
    await page.evaluate(
      (settings) => localStorage.setItem("settings", settings),
      settings,
    );
    await page.reload();
    await reads(page, "report-share", /judged/);
    await reads(page, "filling", /Complete/);
    return figures(page);
  };
  await reads(page, "filling", /Complete/);
  const first = await figures(page);
  assert.ok((await page.locator(GLYPHS).count()) > 0);
  assert.deepEqual(await again('{"engine":false}'), first);
  // The old report stays until the deeper report is complete.
  await again('{"nodes":20000}');
  await at(page, "analysis-depth").selectOption({ label: "Deep" });
  await reads(page, "filling", /Judging/);
  assert.deepEqual(await figures(page), first);
  const better = await again('{"nodes":40000}');
  assert.notDeepEqual(better, first);
  assert.deepEqual(await again('{"nodes":20000}'), better);
});

test("list, panel, graph and explorer have one score of a position, also while the engine searches it", async (t) => {
  const page = await shelf.page(t, {
    path: BAD,
    before: quick,
    context: DESK,
  });
  await reads(page, "filling", /Complete/);
  await page.locator("[data-shows=explorer]").click();
  // The database has a shallow evaluation of this position.
  const row = page.locator("#played-moves [data-uci=a2a4] .score");
  await row.filter({ hasText: /\d/ }).waitFor();
  const first = page.locator("#moves .move-score").first();
  assert.equal(await row.textContent(), await first.textContent());
  for (let ply = 1; ply <= 9; ply++) {
    await page.keyboard.press("ArrowRight");
    await equals(
      () =>
        page.evaluate(() => {
          const text = (/** @type {string} */ selector) =>
            document.querySelector(selector)?.textContent ?? "none";
          const score = text("#score");
          const graph = document
            .querySelector("#graph")
            ?.getAttribute("aria-valuetext");
          return (
            score === text("#moves [aria-current] .move-score") &&
            graph?.includes(`, ${score}`)
          );
        }),
      true,
    );
  }
});

test("glyphs of the file differ from those of the report", async (t) => {
  const page = await shelf.page(t, { path: OPINION, before: withoutEngine });
  const glyphs = page.locator("#moves .by-author");
  await equals(() => glyphs.allTextContents(), ["!!", "??"]);
  assert.equal(await glyphs.first().getAttribute("title"), "In the file");
  assert.equal(await page.locator("#graph .bad").count(), 0);
});

test("the first page shows the report of a game, and opens it", async (t) => {
  const page = await shelf.page(t, { path: "site/", before: withoutEngine });
  const read = (/** @type {string} */ root) =>
    page
      .locator(`${root} :is(.accuracy p, .turning li)`)
      .evaluateAll((all) =>
        all.map(({ textContent }) => textContent?.replace(/\s+/g, " ").trim()),
      );
  const shown = await read("#example");
  assert.equal(shown.length, 5);
  await page.locator("[data-shows=report]").click();
  await at(page, "open-example").click();
  await equals(() => read("#summary"), shown);
});
