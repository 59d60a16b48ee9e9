// Games on the board: pasted, dropped, picked, fetched, linked to, and kept.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  at,
  open,
  play,
  says,
  stores,
  withoutEngine,
} from "./support/page.mjs";
import { ROOT } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { useSites } from "./support/sites.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PGN = `[Event "Casual blitz game"]
[Site "https://lichess.org/q7ZvsdUF"]
[Date "2024.05.01"]
[White "Anna"]
[Black "Bert"]
[Result "1-0"]
[TimeControl "300+0"]
[ECO "C50"]
[Opening "Italian Game"]

1. e4 { [%eval 0.18] [%clk 0:05:00] } 1... e5 { [%eval 0.21] [%clk 0:05:00] } 2. Nf3 { [%clk 0:04:58] } 2... Nc6 { [%clk 0:04:57] } 3. Bc4 { [%clk 0:04:55] } 1-0
`;
const MOVES = ["e4", "e5", "Nf3", "Nc6", "Bc4"];
const SITE = { path: "site/" };
const CLIPBOARD = {
  context: { permissions: ["clipboard-read", "clipboard-write"] },
};
const read = (/** @type {string} */ path) =>
  readFileSync(join(ROOT, path), "utf8");

const { lichess: asked } = await useSites("index.html", {
  games: { q7ZvsdUF: { status: "resign", pgn: PGN } },
});

const sans = (/** @type {Page} */ page, id = "move") =>
  page.locator(`[data-testid=${id}] .san`).allTextContents();

/** Returns an expression for a text. */
const literal = (/** @type {string} */ text) =>
  new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));

/** Waits until the main line has these moves. */
const moves = (/** @type {Page} */ page, expected = MOVES) =>
  equals(() => sans(page), expected);

/** Waits until the variations have these moves. */
const variations = (
  /** @type {Page} */ page,
  /** @type {string[]} */ expected,
) => equals(() => sans(page, "variation-move"), expected);

/** Waits until a move is on the board. */
const isAt = (/** @type {Page} */ page, /** @type {string} */ san) =>
  page
    .locator("[data-testid=move][aria-current=true]", { hasText: san })
    .waitFor();

/** Returns the labels of the opened games in the menu. */
const opened = async (/** @type {Page} */ page) =>
  (
    await page
      .locator('#games optgroup[label="Opened"] option:not([value=all])')
      .allInnerTexts()
  ).sort();

test("the correct games of a file open, the other games are listed with their errors, and a reload keeps all", async (t) => {
  const page = await shelf.page(t, SITE);
  await at(page, "open").click();
  const chooser = page.waitForEvent("filechooser");
  await at(page, "open-pick").click();
  const text = `\uFEFF${read("www/test/data/mixed.pgn")}\n${PGN}`;
  await (
    await chooser
  ).setFiles({
    name: "mixed.pgn",
    mimeType: "application/x-chess-pgn",
    buffer: Buffer.from(text.replaceAll("\n", "\r\n")),
  });
  await says(page, "notice", /8 of 11 games opened/);
  await moves(page, ["e4", "e5"]);
  await says(page, "refused", /3 games were not opened/);
  const reasons = await at(page, "refused").locator("li").allInnerTexts();
  assert.equal(reasons.length, 3);
  assert.match(
    String(reasons[0]),
    /Game 3 \(Some – Atom\): line \d+, column 1: the variant is Atomic/,
  );
  const labels = await opened(page);
  assert.equal(labels.length, 8);
  await at(page, "games").selectOption({ label: "Anna – Bert, 2024" });
  await moves(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/#pgnz?=.*ply=2/);
  await page.reload();
  await moves(page);
  assert.match(await page.title(), /Anna – Bert, 2024/);
  await isAt(page, "e5");
  await equals(() => opened(page), labels);
});

test("a file can be dropped anywhere, and a pasted text opens", async (t) => {
  const page = await shelf.page(t, SITE);
  const dataTransfer = await page.evaluateHandle(
    (pgn) => {
      const transfer = new DataTransfer();
      // Old files have the encoding Latin-1.
      const bytes = Uint8Array.from(pgn, (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], "old.pgn"));
      return transfer;
    },
    PGN.replace("Anna", "Réti"),
  );
  await page.dispatchEvent("body", "dragover", { dataTransfer });
  await page.locator("body.dropping").waitFor();
  await page.dispatchEvent("body", "drop", { dataTransfer });
  await moves(page);
  assert.equal(await page.locator("body.dropping").count(), 0);
  assert.match(await page.title(), /Réti – Bert/);
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "1. d4 d5");
    document.body.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData, bubbles: true }),
    );
  });
  await moves(page, ["d4", "d5"]);
});

test("a game of Lichess is fetched once by its address, and the link contains the id", async (t) => {
  const page = await shelf.page(t, SITE);
  asked.length = 0;
  await open(page, "https://lichess.org/q7ZvsdUF/black#3");
  await moves(page);
  assert.match(await page.title(), /Anna – Bert/);
  assert.ok(await page.locator("#board.orientation-black").count());
  await page.waitForURL(/#lichess=q7ZvsdUF&ply=3$/);
  await equals(async () => (await opened(page)).length, 1);
  await page.reload();
  await moves(page);
  // The game is stored.
  assert.deepEqual(asked, [
    "/game/export/q7ZvsdUF?pgnInJson=true&clocks=true&evals=true&opening=true&literate=false",
  ]);
  await isAt(page, "Nf3");
});

test("a link contains the game with its names and the ply, and back and forward work", async (t) => {
  const page = await shelf.page(t, SITE);
  await open(page, PGN);
  await moves(page);
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/#pgnz=.*&ply=1$/);
  const { hash } = new URL(page.url());
  await at(page, "games").selectOption({ index: 2 });
  await page.waitForURL(/#game=/);
  await page.goBack();
  await moves(page);
  assert.match(await page.title(), /Anna – Bert/);
  await page.goForward();
  await page.waitForURL(/#game=/);

  const other = await shelf.page(t, { path: `site/${hash}` });
  await moves(other);
  assert.match(await other.title(), /Anna – Bert, 2024/);
  await isAt(other, "e4");
  const plain = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent(PGN)}&ply=2&line=b1c3`,
  });
  await variations(plain, ["Nc3"]);
});

const SHORT = MOVES.slice(0, 4);
/** Games whose links name them in different ways. */
const NAMED = {
  "a game of Lichess": "site/#lichess=q7ZvsdUF&ply=4",
  "a game of the board": "site/#moves=e2e4,e7e5,g1f3,b8c6,f1c4&ply=4",
};

for (const [name, path] of Object.entries(NAMED)) {
  test(`the variations of ${name} survive a reload and a visit of another game, and may become the main line`, async (t) => {
    const page = await shelf.page(t, { path, ...CLIPBOARD });
    await moves(page);
    await play(page, "h3");
    await page.keyboard.press("ArrowLeft");
    await play(page, "a3");
    await play(page, "a6");
    await variations(page, ["h3", "a3", "a6"]);
    if (path.includes("lichess")) await stores(page, /\( ?3\. a3[^)]* a6/);
    await page.keyboard.press("Home");
    await until(() => !/ply=|line=|#moves/.test(page.url()));
    await page.reload();
    await variations(page, ["h3", "a3", "a6"]);
    const { hash } = new URL(page.url());
    await page.goto(shelf.url("site/#game=tal-botvinnik-1960"));
    await until(async () => (await page.title()).startsWith("Tal – Botvinnik"));
    await page.goto(shelf.url(`site/${hash}`));
    await variations(page, ["h3", "a3", "a6"]);
    await page
      .locator("[data-testid=variation-move]", { hasText: "a6" })
      .click();
    await at(page, "promote").click();
    await moves(page, [...SHORT, "a3", "a6"]);
    const position = () => at(page, "position-text").textContent();
    const before = await position();
    await page.waitForURL(/#pgnz?=.*&ply=6$/);
    await at(page, "share").click();
    await at(page, "copy-link").click();
    const link = await until(() =>
      page.evaluate(() => navigator.clipboard.readText()),
    );
    await page.goto("about:blank");
    await page.goto(link);
    await moves(page, [...SHORT, "a3", "a6"]);
    await equals(position, before);
    // Another browser has no list of games.
    const other = await shelf.page(t, { path: `site/${new URL(link).hash}` });
    await moves(other, [...SHORT, "a3", "a6"]);
  });
}

test("a link and an iframe have the report, which their reader sees without an engine, and may judge anew", async (t) => {
  const quick = () =>
    localStorage.setItem("settings", '{"nodes":2000,"stockfish":false}');
  const text =
    '[White "Anna"]\n[Black "Bert"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0';
  const path = `${SITE.path}#pgn=${encodeURIComponent(text)}`;
  const page = await shelf.page(t, { path, before: quick, ...CLIPBOARD });
  const figures = (/** @type {Page} */ page) =>
    page.locator("#report td").allTextContents();
  const list = (/** @type {Page} */ page) =>
    page.locator("[data-testid=move]").allTextContents();
  await reads(page, "filling", /Complete/);
  const expected = [await figures(page), await list(page)];
  assert.match(String(expected[1]), /Ke7\s*\?\?/);
  await at(page, "share").click();
  const copied = async (
    /** @type {string} */ id,
    /** @type {RegExp} */ words,
  ) => {
    await at(page, id).click();
    await says(page, "share-status", words);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const link = await copied("copy-link", /^Link copied/);
  const frame = await copied("copy-embed", /^HTML copied/);
  assert.match(link, /#pgn=.*&report=[\w-]+$/);

  const reader = await shelf.page(t, { path: link, before: quick });
  const workers = [];
  reader.on("worker", (worker) => workers.push(worker));
  await reads(reader, "report-share", /^Report from the link\..*judged/);
  assert.deepEqual([await figures(reader), await list(reader)], expected);
  assert.equal(workers.length, 0);
  await reader.reload();
  await reads(reader, "report-share", /^Report from the link\./);
  await reader.locator("[data-shows=report]").click();
  await reader.getByRole("button", { name: "Judge anew" }).click();
  await reads(reader, "report-share", /^Based on/);
  assert.deepEqual(await figures(reader), expected[0]);
  await at(reader, "analysis-depth").blur();
  await reader.keyboard.press("g");
  await says(
    reader,
    "stored-game",
    /accuracy \d.* – \d.* · blunders \d – \d · worst 2/,
  );

  writeFileSync(
    join(shelf.root, "host.html"),
    `<link rel="icon" href="data:,">${frame}`,
  );
  const host = await shelf.page(t, { path: "host.html" });
  const inside = host.frameLocator("iframe[title^=Anna]");
  await inside.getByRole("button", { name: /Ke7\?\?.*#1/ }).click();
  await inside.getByText("#1").first().waitFor();
  const whole = inside.getByRole("link", { name: /report/ });
  assert.match(String(await whole.getAttribute("href")), /&report=/);
});

test("a report in a link that cannot be read is ignored", async (t) => {
  const path = `${SITE.path}#moves=e2e4,e7e5&report=AAAA`;
  const page = await shelf.page(t, { path, before: withoutEngine });
  await says(page, "notice", /The report in the link cannot be read/);
  await moves(page, ["e4", "e5"]);
});

test("the field of the first page opens pasted and typed texts, and the dialog shows the texts that cannot be opened", async (t) => {
  const page = await shelf.page(t, { ...SITE, ...CLIPBOARD });
  const field = at(page, "quick-text");
  await reads(page, "facts", /^Depth/);
  await page.evaluate(
    (text) => navigator.clipboard.writeText(text),
    PGN.replace("2. Nf3", "\n2. Nf3"),
  );
  await field.focus();
  await page.keyboard.press("Control+v");
  await moves(page);
  await at(page, "games").selectOption("");
  await field.fill("1. d4 d5");
  await field.press("Enter");
  await moves(page, ["d4", "d5"]);
  await at(page, "games").selectOption("");
  await field.fill("1. e5");
  await at(page, "quick-submit").click();
  await says(page, "open-error", /e5 is not a legal move/);
  assert.equal(await at(page, "open-text").inputValue(), "1. e5");
  await page.keyboard.press("Escape");
  await at(page, "open-dialog").waitFor({ state: "hidden" });
  assert.equal(await field.inputValue(), "");
  // An empty field opens the dialog.
  await at(page, "quick-submit").click();
  await at(page, "open-dialog").waitFor();
});

test("the files of the table open with their moves, and errors name the place", async (t) => {
  const page = await shelf.page(t, { ...SITE, before: withoutEngine });
  await at(page, "open").click();
  await page.keyboard.press("Escape");
  const rows = read("tests/data/pgn/cases.tsv").trim().split("\n");
  for (const row of rows.filter((row) => !row.startsWith("#"))) {
    const [name, outcome = ""] = row.split("\t");
    const games = outcome.split("; ").map((game) => {
      const [line = "", error] = game
        .replace(/ \[.* skipped\]/, "")
        .split("! ");
      const words = line.split(" ").filter((word) => /[a-hO]|moves/.test(word));
      return { words, error };
    });
    const shown = games.find(({ words }) => words.length > 0);
    await at(page, "open-file").setInputFiles(
      join(ROOT, `tests/data/pgn/${name}.pgn`),
    );
    const [{ error } = { error: undefined }] = games;
    if (!shown) {
      await says(page, "open-error", error ? literal(error) : /no moves/);
      await page.keyboard.press("Escape");
      await at(page, "open-dialog").waitFor({ state: "hidden" });
      continue;
    }
    const count = Number(/^(\d+) moves/.exec(outcome)?.[1]);
    if (count) await until(async () => (await sans(page)).length === count);
    // The first game may be a position.
    else if (name !== "two_fen_only")
      await equals(
        async () => [name, ...(await sans(page))],
        [name, ...shown.words],
      );
    if (shown.error) await says(page, "notice", literal(shown.error));
    await at(page, "games").selectOption({ label: "Starting position" });
    await moves(page, []);
  }
});

test("a text with an illegal move is corrected in the dialog, where the move is selected", async (t) => {
  const page = await shelf.page(t, SITE);
  const text = '\n1. d4 d5 *\n\n[White "Ann"]\n\n1. e4 e5\n2. Ke3 Nc6';
  const selected = () =>
    at(page, "open-text").evaluate((field) => {
      const { value, selectionStart, selectionEnd } =
        /** @type {HTMLTextAreaElement} */ (field);
      return value.slice(selectionStart, selectionEnd);
    });
  await open(page, text);
  await says(page, "notice", /Game 2 ends early: line 7, column 4: 2\. Ke3 is/);
  await at(page, "notice-action").click();
  await says(
    page,
    "open-error",
    /line 7, column 4: 2\. Ke3 is not a legal move/,
  );
  assert.equal(await at(page, "open-text").inputValue(), text);
  assert.equal(await selected(), "Ke3");
  await page.keyboard.type("Ke2");
  await at(page, "open-submit").click();
  await says(page, "notice", /2 games opened/);
  // Without a move before the error, the dialog stays open.
  await open(page, "1. Kd4 d5");
  await says(page, "open-error", /column 4: 1\. Kd4/);
  assert.equal(await selected(), "Kd4");
});

test("the list of games is searched, walked through and cleared by keyboard, and contains each game once", async (t) => {
  const page = await shelf.page(t, SITE);
  const list = async () => {
    await page.keyboard.press("g");
    await at(page, "games-dialog").waitFor();
  };
  const press = async (/** @type {string[]} */ ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await open(page, read("static-shards/famous.pgn"));
  await says(page, "notice", /22 games opened/);
  await open(page, PGN);
  await open(page, PGN.replaceAll("\n", "\r\n"));
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await list();
  await says(page, "games-count", /^23 games$/);
  const first = at(page, "stored-game").first();
  assert.match(
    await first.innerText(),
    /Anna – Bert.*1-0\s+2024-05-01 · Casual blitz game · C50 Italian Game · 3 moves/s,
  );
  await page.keyboard.type("kasparov 1999");
  await says(page, "games-count", /^1 of 23 games$/);
  await press("ArrowDown", "Enter");
  await at(page, "games-dialog").waitFor({ state: "hidden" });
  await until(async () => /Kasparov – Topalov/.test(await page.title()));
  await list();
  // The newest game is first.
  await first.filter({ hasText: "Kasparov" }).waitFor();
  await press("ArrowDown", "ArrowDown", "Delete");
  await says(page, "games-count", /^22 games$/);
  await at(page, "games-clear").click();
  await says(page, "games-clear", /Really remove all 22/);
  await at(page, "games-clear").click();
  await says(page, "games-count", /No games yet/);
  await at(page, "games-close").click();
  assert.deepEqual(await opened(page), []);
});

test("a large file is a table, which is searched while it is read, and a row opens its game", async (t) => {
  const page = await shelf.page(t, { ...SITE, before: withoutEngine });
  const games = Array.from(
    { length: 9_000 },
    (_, n) =>
      `[Event "Open ${n}"]\n[White "Réti ${n}"]\n[Black "Bert"]\n[Result "${n % 3 ? "1-0" : "1/2-1/2"}"]\n\n1. e4 { a game of a large file } e5 ${n % 3 ? "1-0" : "1/2-1/2"}`,
  );
  games[7_000] = PGN.trim();
  await at(page, "open").click();
  await at(page, "open-file").setInputFiles({
    name: "large.pgn",
    mimeType: "application/x-chess-pgn",
    // An old file, in Windows-1252.
    buffer: Buffer.from(games.join("\r\n\r\n"), "latin1"),
  });
  await at(page, "stored-game").first().filter({ hasText: "Réti 0" }).waitFor();
  await moves(page, ["e4", "e5"]);
  await at(page, "games-search").fill("anna");
  await says(page, "games-count", /^1 of 9,000 games$/);
  await at(page, "games-search").fill("");
  await at(page, "games-filter").selectOption({ label: "Draws" });
  await says(page, "games-count", /^3,000 of 9,000 games$/);
  assert.equal((await opened(page)).length, 1);
  await at(page, "games-filter").selectOption({ label: "White won" });
  await at(page, "games-search").fill("anna");
  await at(page, "stored-game").click();
  await moves(page);
  await equals(async () => (await opened(page)).length, 2);
  await page.keyboard.press("g");
  await says(page, "games-count", /^9,000 games$/);
});
