// The opening explorer, as a page and as a panel of the board: it shows the answers of the native program, by mouse, touch and keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AFTER_E4, START } from "./support/chromium.mjs";
import { ROOT, SHELFISH } from "./support/paths.mjs";
import { at } from "./support/page.mjs";
import * as shelf from "./support/shelf.mjs";
import { useSites } from "./support/sites.mjs";
import { scoreOf } from "./support/truth.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("node:test").TestContext} Test */

/** The rows of the table: move, games, evaluation. */
const rows = (/** @type {Page} */ page) =>
  page.$$eval("#played:not(.stale) #played-moves tr", (all) =>
    all.map((row) =>
      [
        row.querySelector(".san"),
        row.querySelector(".games")?.firstChild,
        row.querySelector(".score"),
      ].map((part) => part?.textContent ?? ""),
    ),
  );

/** Waits until the table has the moves of the native program, with their numbers of games and their evaluations. */
async function shows(/** @type {Page} */ page, /** @type {string} */ fen) {
  const [book, evals] = ["book", "db"].map((name) =>
    join(shelf.root, "site", name),
  );
  const args = ["explore", "-d", book, "--evals", evals, "--json", fen];
  const { moves } = JSON.parse(
    execFileSync(SHELFISH, args.map(String), { encoding: "utf8" }),
  );
  const expected = moves.map(
    (/** @type {any} */ { san, white, draws, black, evaluation }) => [
      san,
      (white + draws + black).toLocaleString("en"),
      scoreOf(evaluation, "-"),
    ],
  );
  await equals(() => rows(page), expected);
}

const explorer = (
  /** @type {Test} */ t,
  query = "",
  context = {},
  allow = /^$/,
) => shelf.page(t, { path: `site/explorer.html${query}`, context, allow });

for (const [name, viewport] of Object.entries({
  "a phone": { width: 390, height: 844 },
  "a desk": { width: 1366, height: 768 },
})) {
  test(`the table has the answer of the program, and a click plays a move, on ${name}`, async (t) => {
    const hasTouch = name === "a phone";
    const page = await explorer(t, "", { viewport, hasTouch });
    await shows(page, START);
    const row = page.locator("#played-moves tr", {
      has: page.getByText("e4", { exact: true }),
    });
    await (hasTouch ? row.tap() : row.click());
    await shows(page, AFTER_E4);
    await page
      .locator("#opening", { hasText: "B00 King's Pawn Game" })
      .waitFor();
    await page.waitForURL(/#moves=e2e4/);
    assert.match(
      (await at(page, "analyse").getAttribute("href")) ?? "",
      /^\.\/#moves=e2e4/,
    );
    await at(page, "previous").click();
    await shows(page, START);
    const outside = await page.$$eval(
      "#board, #played-moves tr:not([hidden]), .controls button",
      (all) =>
        all.filter((part) => {
          const { width, left, right } = part.getBoundingClientRect();
          return width < 4 || left < 0 || right > innerWidth + 0.5;
        }).length,
    );
    assert.equal(outside, 0);
  });
}

test("buckets can be chosen, moves have ratings, games are links", async (t) => {
  const details = join(ROOT, "tests/data/book-details/db");
  cpSync(details, join(shelf.root, "details"), { recursive: true });
  const page = await explorer(t, "?book=../details/manifest.json");
  const counts = (/** @type {string[][]} */ expected) =>
    equals(
      async () => (await rows(page)).map(([san, games]) => [san, games]),
      expected,
    );
  await counts([
    ["e4", "5"],
    ["Nf3", "1"],
  ]);
  assert.deepEqual(
    await page.locator("#played-moves .rating").allTextContents(),
    ["1856", "2050"],
  );
  const references = at(page, "references");
  const link = references.getByRole("link", { name: "Lichess Ab3xYz09" });
  assert.equal(await link.getAttribute("href"), "./#lichess=Ab3xYz09");
  assert.match(
    await references.innerText(),
    /e4 0–1 games\.pgn, game 4 \(2675\)/,
  );
  await reads(
    page,
    "book-facts",
    /^\d games \(games\.pgn\), at .*rapid.*, rated below/,
  );
  const rapid = page.getByRole("button", { name: "Rapid" });
  await rapid.click();
  assert.equal(await rapid.getAttribute("aria-pressed"), "false");
  await counts([["e4", "4"]]);
  await page.getByRole("button", { name: "2000 and more" }).press("Space");
  await counts([["e4", "2"]]);
  for (const name of ["Blitz", "Correspondence", "No time control"])
    await page.getByRole("button", { name }).click();
  await reads(
    page,
    "status",
    /^This position has no game of the selected groups in this book\.$/,
  );
});

test("Lichess names the players of its games, when a button asks it", async (t) => {
  const details = join(ROOT, "tests/data/book-details/db");
  cpSync(details, join(shelf.root, "details"), { recursive: true });
  const { lichess } = await useSites("index.html", {
    names: { Ab3xYz09: ["Anna", "Bert", Date.UTC(2024, 4)] },
  });
  const page = await shelf.page(t, {
    path: "site/?book=../details/manifest.json",
    before: () => localStorage.setItem("settings", '{"engine":false}'),
    context: { viewport: { width: 1366, height: 768 } },
  });
  await reads(page, "facts", /^Depth/);
  await tab(page).click();
  await at(page, "references").getByText("Lichess Ab3xYz09").waitFor();
  assert.deepEqual(lichess, []);
  await at(page, "name-players").click();
  const link = at(page, "references").getByRole("link", {
    name: "Anna – Bert, 2024",
  });
  assert.equal(await link.getAttribute("href"), "#lichess=Ab3xYz09");
  assert.deepEqual(lichess, ["/api/games/export/_ids?moves=false"]);
});

test("a game of the book opens on the board in the position", async (t) => {
  const page = await explorer(
    t,
    "#moves=e2e4,e7e5,g1f3,d7d6,d2d4,c8g4,d4e5,g4f3,d1f3,d6e5,f1c4&ply=11",
  );
  await page.locator("#references a", { hasText: "Isouard" }).click();
  await page.waitForURL(/\/site\/#game=morphy-isouard-1858&ply=11$/);
  await page
    .locator("#moves [aria-current] .san", { hasText: "Bc4" })
    .waitFor();
});

test("a position that is not in the book, with the limits of the book, a finished game and an unreadable book are reported", async (t) => {
  const page = await explorer(
    t,
    "#fen=8/8/8/3k4/8/8/3K4/N7_w_-_-_0_1",
    {},
    /./,
  );
  await reads(
    page,
    "status",
    /^This position is not in the book, which has the first 24 half-moves of each game and only positions that at least 5 games reached\.$/,
  );
  const visit = (/** @type {string} */ query) =>
    page.goto(shelf.url(`site/explorer.html${query}`));
  await visit("?2#moves=f2f3,e7e5,g2g4,d8h4&ply=4");
  await reads(page, "status", /^Checkmate\.$/);
  await visit("?book=db/manifest.json");
  await at(page, "retry").waitFor();
  await reads(
    page,
    "status",
    /no readable book[^]*database of evaluations[^]*shelfish book build GAMES\.pgn/,
  );
  await visit("?db=book/manifest.json");
  await reads(page, "status", /^The evaluations cannot be looked up now\.$/);
  assert.ok((await rows(page)).length > 10, "the counts are there");
});

const tab = (/** @type {Page} */ page) =>
  page.getByRole("button", { name: "Explorer", exact: true });

/** Opens the board without the engine. */
const board = (/** @type {Test} */ t) =>
  shelf.page(t, {
    path: "site/",
    before: () =>
      localStorage.settings ??
      localStorage.setItem("settings", '{"engine":false}'),
    context: { viewport: { width: 1366, height: 768 } },
  });

test("on the board, the book loads when the explorer is shown, a move is an arrow, and a click plays it", async (t) => {
  const page = await board(t);
  await reads(page, "facts", /^Depth/);
  const asked = async () =>
    (await shelf.server.requests()).filter(({ path }) => /\/book\//.test(path))
      .length;
  assert.equal(await asked(), 0);
  await tab(page).click();
  await shows(page, START);
  assert.ok((await asked()) > 1);
  await page.locator("#played-moves tr").nth(1).hover();
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await page
    .locator("#played-moves tr", { has: page.getByText("e4", { exact: true }) })
    .click();
  await shows(page, AFTER_E4);
});

test("on the board, a key shows the explorer, digits play moves, and a reload keeps the explorer open", async (t) => {
  const page = await board(t);
  await reads(page, "facts", /^Depth/);
  const current = page.locator("#moves [aria-current] .san");
  await page.keyboard.press("1");
  assert.equal(await current.count(), 0, "not without the explorer");
  await page.keyboard.press("t");
  await shows(page, START);
  await page.keyboard.press("1");
  await shows(page, AFTER_E4);
  await page.waitForURL(/#moves=e2e4&ply=1$/);
  await page.locator("#played-moves button").first().focus();
  await page.keyboard.press("Tab");
  const second = await page.locator("#played-moves .san").nth(1).textContent();
  await page.keyboard.press("Enter");
  await equals(() => current.textContent(), second);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/&ply=1$/);
  await page.reload();
  await shows(page, AFTER_E4);
  assert.equal(await tab(page).getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "Report" }).click();
  await page.reload();
  await reads(page, "facts", /^Depth/);
  assert.equal(await at(page, "explorer").isVisible(), false);
});
