// Games on the demo page: pasted, dropped, picked, fetched, linked to, and kept.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { at, open, says } from "./support/page.mjs";
import { useSites } from "./support/sites.mjs";
import { ROOT } from "./support/paths.mjs";
import { stores } from "./support/stored-games.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PGN = `[Event "Casual blitz game"]
[Site "https://lichess.org/q7ZvsdUF"]
[Date "2024.05.01"]
[White "Anna"]
[Black "Bert"]
[Result "1-0"]
[Variant "Standard"]
[TimeControl "300+0"]
[ECO "C50"]
[Opening "Italian Game"]

1. e4 { [%eval 0.18] [%clk 0:05:00] } 1... e5 { [%eval 0.21] [%clk 0:05:00] } 2. Nf3 { [%clk 0:04:58] } 2... Nc6 { [%clk 0:04:57] } 3. Bc4 { [%clk 0:04:55] } 1-0
`;
const MIXED = readFileSync(
  join(ROOT, "www", "test", "data", "mixed.pgn"),
  "utf8",
);
const FAMOUS = readFileSync(join(ROOT, "static-shards", "famous.pgn"), "utf8");
const SITE = { path: "site/" };

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof lichess>>} */
let server;
before(async () => {
  shelf = await lab({ own: true });
  server = await lichess({
    q7ZvsdUF: { status: "resign", pgn: PGN },
    running1: { status: "started", pgn: PGN.replace("1-0", "*") },
    Unclear1: { pgn: PGN },
    Busy1234: 429,
    Broken12: 500,
    Atomic12: { status: "mate", pgn: PGN.replace("Standard", "Atomic") },
  });
  useSites(join(shelf.root, "site", "index.html"), { lichess: server.url });
});
after(async () => {
  await server.close();
  await shelf.close();
});

/** Waits until the main line has these moves. */
async function moves(/** @type {Page} */ page, /** @type {string} */ expected) {
  await until(() =>
    page.evaluate(
      (expected) =>
        [...document.querySelectorAll("[data-testid=move] .san")]
          .map((each) => each.textContent?.match(/[\w-]+/)?.[0])
          .join(" ") === expected,
      expected,
    ),
  );
}

/** Returns the labels of the opened games in the menu. */
const opened = (/** @type {Page} */ page) =>
  page
    .locator('#games optgroup[label="Opened"] option:not([value=all])')
    .allInnerTexts();

test("the correct games of a file open, the other games are listed with their errors, and a reload keeps all", async (t) => {
  const page = await shelf.page(t, SITE);
  await at(page, "open").click();
  const chooser = page.waitForEvent("filechooser");
  await at(page, "open-pick").click();
  await (
    await chooser
  ).setFiles({
    name: "mixed.pgn",
    mimeType: "application/x-chess-pgn",
    buffer: Buffer.from(
      `\uFEFF${MIXED.replaceAll("\n", "\r\n")}\r\n${PGN.replaceAll("\n", "\r\n")}`,
    ),
  });
  await says(page, "notice", /7 of 11 games opened/);
  await moves(page, "e4 e5");
  await says(page, "refused", /4 games were not opened/);
  await at(page, "refused").locator("summary").click();
  const reasons = await at(page, "refused").locator("li").allInnerTexts();
  assert.equal(reasons.length, 4);
  assert.match(
    String(reasons[0]),
    /Game 3 \(Some – Atom\): line 18: the variant is Atomic/,
  );
  const labels = await opened(page);
  assert.equal(labels.length, 7);
  assert.equal(labels[0], "Good – Good");
  await at(page, "games").selectOption({ label: "Anna – Bert, 2024" });
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await until(() => page.evaluate(() => /pgnz?=.*ply=2/.test(location.hash)));
  await page.reload();
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.match(await page.title(), /Anna – Bert, 2024/);
  await until(() =>
    page.evaluate(() =>
      document
        .querySelector("[data-testid=move][aria-current=true]")
        ?.textContent?.startsWith("e5"),
    ),
  );
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll('#games optgroup[label="Opened"] option')
          .length === 8,
    ),
  );
  assert.deepEqual((await opened(page)).sort(), labels.sort());
});

test("a file can be dropped anywhere, and a pasted text opens", async (t) => {
  const page = await shelf.page(t, SITE);
  const data = await page.evaluateHandle((pgn) => {
    const transfer = new DataTransfer();
    // Old files have the encoding Latin-1.
    transfer.items.add(
      new File(
        [
          Uint8Array.from(pgn.replace("Anna", "Réti"), (letter) =>
            letter.charCodeAt(0),
          ),
        ],
        "old.pgn",
      ),
    );
    return transfer;
  }, PGN);
  await page.dispatchEvent("body", "dragover", { dataTransfer: data });
  assert.ok(
    await page.evaluate(() => document.body.classList.contains("dropping")),
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.ok(
    !(await page.evaluate(() => document.body.classList.contains("dropping"))),
  );
  assert.match(await page.title(), /Réti – Bert/);
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.setData("text/plain", "1. d4 d5");
    document.body.dispatchEvent(
      new ClipboardEvent("paste", {
        clipboardData: transfer,
        bubbles: true,
        cancelable: true,
      }),
    );
  });
  await moves(page, "d4 d5");
});

test("a game of Lichess is fetched once by its address, and the link contains the id", async (t) => {
  const page = await shelf.page(t, SITE);
  server.asked.length = 0;
  await open(page, "https://lichess.org/q7ZvsdUF/black#3");
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.match(await page.title(), /Anna – Bert/);
  assert.ok(await page.locator("#board.orientation-black").count());
  await until(() =>
    page.evaluate(() => location.hash === "#lichess=q7ZvsdUF&ply=3"),
  );
  assert.deepEqual(server.asked, [
    "/game/export/q7ZvsdUF?pgnInJson=true&clocks=true&evals=true&opening=true&literate=false",
  ]);
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll('#games optgroup[label="Opened"] option')
          .length === 2,
    ),
  );
  await page.reload();
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.equal(server.asked.length, 1, "the game is stored");
  await until(() =>
    page.evaluate(() =>
      document
        .querySelector("[data-testid=move][aria-current=true]")
        ?.textContent?.startsWith("Nf3"),
    ),
  );
});

test("a link contains the game with its names and the ply, and back and forward work", async (t) => {
  const page = await shelf.page(t, SITE);
  await open(page, PGN);
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  await page.keyboard.press("ArrowRight");
  await until(() =>
    page.evaluate(() => /^#pgnz=.*&ply=1$/.test(location.hash)),
  );
  const link = page.url();
  const famous = page
    .locator('#games optgroup[label="Famous games"] option')
    .first();
  await at(page, "games").selectOption(
    String(await famous.getAttribute("value")),
  );
  await until(() => page.evaluate(() => location.hash.startsWith("#game=")));
  await page.goBack();
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.match(await page.title(), /Anna – Bert/);
  await page.goForward();
  await until(() => page.evaluate(() => location.hash.startsWith("#game=")));
  assert.doesNotMatch(await page.title(), /Anna/);

  const other = await shelf.page(t, { path: `site/${new URL(link).hash}` });
  await moves(other, "e4 e5 Nf3 Nc6 Bc4");
  assert.match(await other.title(), /Anna – Bert, 2024/);
  assert.equal(new URL(other.url()).hash, new URL(link).hash);
  await until(() =>
    other.evaluate(() =>
      document
        .querySelector("[data-testid=move][aria-current=true]")
        ?.textContent?.startsWith("e4"),
    ),
  );

  const plain = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent(PGN)}&ply=2&line=b1c3`,
  });
  await until(() =>
    plain.evaluate(() =>
      document
        .querySelector("[data-testid=variation-move]")
        ?.textContent?.includes("Nc3"),
    ),
  );
  const old = await shelf.page(t, { path: "site/#moves=e2e4,e7e5&ply=1" });
  await moves(old, "e4 e5");
});

/** Plays a move by its name. */
async function play(/** @type {Page} */ page, /** @type {string} */ san) {
  await at(page, "move-input").fill(san);
  await at(page, "move-input").press("Enter");
  await until(async () => (await at(page, "move-input").inputValue()) === "");
  await at(page, "move-input").blur();
}

/** Returns the moves of the variations in the list of moves. */
const variations = (/** @type {Page} */ page) =>
  page.locator("[data-testid=variation-move] .san").allTextContents();

/** The games whose links name them in different ways. */
const NAMED = {
  "a game of Lichess": {
    path: "site/#lichess=q7ZvsdUF&ply=4",
    link: /#lichess=q7ZvsdUF&/,
    isStored: true,
  },
  "a game of the board": {
    path: "site/#moves=e2e4,e7e5,g1f3,b8c6,f1c4&ply=4",
    link: /#pgn/,
    isStored: false,
  },
};

for (const [name, { path, link, isStored }] of Object.entries(NAMED)) {
  test(`the variations of ${name} survive a reload and a visit of another game`, async (t) => {
    const page = await shelf.page(t, { path });
    await until(
      async () => (await page.locator("[data-testid=move]").count()) > 4,
    );
    await play(page, "h3");
    await page.keyboard.press("ArrowLeft");
    await play(page, "a3");
    await play(page, "a6");
    assert.deepEqual(await variations(page), ["h3", "a3", "a6"]);
    if (isStored) await stores(page, /\( ?3\. a3[^)]* a6/);
    await page.keyboard.press("Home");
    await until(
      () => link.test(`${page.url()}&`) && !/ply=|line=/.test(page.url()),
      () => page.url(),
    );
    for (const again of [1, 2]) {
      await page.reload();
      await until(
        async () =>
          JSON.stringify(await variations(page)) === '["h3","a3","a6"]',
        async () => `${again}: ${await variations(page)}`,
      );
    }
    const { hash } = new URL(page.url());
    await page.goto(
      new URL("site/#game=tal-botvinnik-1960", shelf.server.url).href,
    );
    await until(async () => (await page.title()).startsWith("Tal – Botvinnik"));
    await page.goto(new URL(`site/${hash}`, shelf.server.url).href);
    await until(async () => (await variations(page)).length === 3);
  });

  test(`after a variation of ${name} is made the main line, the link and a reload show the same position`, async (t) => {
    const page = await shelf.page(t, {
      path,
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await until(
      async () => (await page.locator("[data-testid=move]").count()) > 4,
    );
    const main = await page
      .locator("[data-testid=move] .san")
      .allTextContents();
    await play(page, "a3");
    await play(page, "a6");
    await at(page, "promote").click();
    await moves(page, `${main.slice(0, 4).join(" ")} a3 a6`);
    const position = await at(page, "position-text").textContent();
    await until(
      () => /^#pgnz?=.*&ply=6$/.test(new URL(page.url()).hash),
      () => page.url(),
    );
    await at(page, "share").click();
    await at(page, "copy-link").click();
    const copied = await until(() =>
      page.evaluate(() => navigator.clipboard.readText()),
    );
    for (const open of [
      () => page.reload(),
      () => page.goto("about:blank").then(() => page.goto(copied)),
    ]) {
      await open();
      await moves(page, `${main.slice(0, 4).join(" ")} a3 a6`);
      await until(
        async () =>
          (await at(page, "position-text").textContent()) === position,
      );
      assert.deepEqual(await variations(page), main.slice(4));
    }
    // Another browser has no list of games.
    const other = await shelf.page(t, { path: `site/${new URL(copied).hash}` });
    await until(
      async () => (await at(other, "position-text").textContent()) === position,
    );
  });
}

test("the field of the first page opens pasted and typed texts, and the dialog shows the texts that cannot be opened", async (t) => {
  const page = await shelf.page(t, {
    ...SITE,
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  const field = at(page, "quick-text");
  await until(() =>
    page.evaluate(() =>
      document.querySelector("#facts")?.textContent?.startsWith("Depth"),
    ),
  );
  await page.evaluate(
    (text) => navigator.clipboard.writeText(text),
    PGN.replace("2. Nf3", "\n2. Nf3"),
  );
  await field.focus();
  await page.keyboard.press("Control+v");
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  await until(async () => (await page.title()).startsWith("Anna – Bert"));
  await at(page, "games").selectOption("");
  await field.fill("1. d4 d5");
  await field.press("Enter");
  await moves(page, "d4 d5");
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

test("the list of games is searched, walked through and cleared by keyboard, and contains each game once", async (t) => {
  const page = await shelf.page(t, SITE);
  await open(page, FAMOUS);
  await says(page, "notice", /22 games opened/);
  await open(page, PGN);
  await open(
    page,
    PGN.replace("2024.05.01", "2024.05.01").replaceAll("\n", "\r\n"),
  );
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await page.keyboard.press("g");
  await at(page, "games-dialog").waitFor();
  await says(page, "games-count", /^23 games$/);
  assert.match(
    await at(page, "stored-game").first().innerText(),
    /Anna – Bert.*1-0\s+Casual blitz game · 2024-05-01 · C50 Italian Game · 3 moves/s,
  );
  await page.keyboard.type("kasparov 1999");
  await says(page, "games-count", /^1 of 23 games$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await at(page, "games-dialog").waitFor({ state: "hidden" });
  await until(() =>
    page.evaluate(() => /Kasparov – Topalov/.test(document.title)),
  );
  await page.keyboard.press("g");
  await at(page, "games-dialog").waitFor();
  await until(
    async () =>
      /Kasparov/.test(await at(page, "stored-game").first().innerText()),
    "the newest game is first",
  );
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Delete");
  await says(page, "games-count", /^22 games$/);
  await at(page, "games-clear").click();
  await says(page, "games-clear", /Really remove all 22/);
  await at(page, "games-clear").click();
  await says(page, "games-count", /No games yet/);
  await at(page, "games-close").click();
  assert.deepEqual(await opened(page), []);
});
