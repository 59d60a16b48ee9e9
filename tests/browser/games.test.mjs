// Games on the demo page: pasted, dropped, picked, fetched, linked to, and kept.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ENGINES } from "./support/engines.mjs";
import { lab } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { at, open, says } from "./support/page.mjs";
import { useSites } from "./support/sites.mjs";
import { ROOT } from "./support/paths.mjs";
import { stores } from "./support/stored-games.mjs";
import { equals, until } from "./support/until.mjs";

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

/** Waits until an element contains a text. */

/** Returns the labels of the opened games in the menu. */
const opened = (/** @type {Page} */ page) =>
  page
    .locator('#games optgroup[label="Opened"] option:not([value=all])')
    .allInnerTexts();

test("letters of other languages and figurines are read correctly, or the error contains the letters", async (t) => {
  const page = await shelf.page(t, SITE);
  await open(page, "1. e4 e5 2. Sf3 Sc6 3. Lb5");
  await moves(page, "e4 e5 Nf3 Nc6 Bb5");
  await open(page, "1. e4 e5 2. ♘f3");
  await moves(page, "e4 e5 Nf3");
  await open(page, "1. e4 e5\n2. Sf6 d6");
  await says(
    page,
    "open-error",
    /2\. Sf6 is not a legal move; the letters look German/,
  );
  // The line of the error is marked.
  assert.equal(
    await at(page, "open-text").evaluate(
      (field) =>
        field instanceof HTMLTextAreaElement &&
        field.value.slice(field.selectionStart, field.selectionEnd),
    ),
    "2. Sf6 d6",
  );
  await moves(page, "e4 e5 Nf3");
  await page.keyboard.press("Escape");
  await at(page, "move-input").fill("Sf3");
  await at(page, "move-input").press("Enter");
  await at(page, "variation-move").filter({ hasText: "Nf3" }).waitFor();
});

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
  await says(page, "notice", /5 of 11 games opened/);
  await moves(page, "e4 e5");
  await says(page, "refused", /6 games were not opened/);
  await at(page, "refused").locator("summary").click();
  const reasons = await at(page, "refused").locator("li").allInnerTexts();
  assert.equal(reasons.length, 6);
  assert.match(
    String(reasons[0]),
    /Game 2 \(Bad – Move\): 2\. Ke3 is not a legal move \(line 12, column 13\)/,
  );
  const labels = await opened(page);
  assert.equal(labels.length, 5);
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
          .length === 6,
    ),
  );
  assert.deepEqual((await opened(page)).sort(), labels.sort());
});

test("a missing game of a file is named: a game without moves and a game that is in the file twice", async (t) => {
  const page = await shelf.page(t, SITE);
  const games = Array.from(
    { length: 50 },
    (_, n) =>
      `[Event "Open"]\n[Round "${n + 1}"]\n[White "White${n + 1}"]\n[Black "Black${n + 1}"]\n\n1. e4 e5 2. Nf3 Nc6 ${n % 2 ? "3. Bb5" : "3. Bc4"} *\n`,
  );
  for (const [index, text, said] of /** @type {const} */ ([
    [
      16,
      '[Event "Open"]\n[White "White17"]\n[Black "Black17"]\n',
      "Game 17 (White17 – Black17): The game has no moves.",
    ],
    [48, games[3], "Game 49 (White4 – Black4): It is the same game as game 4."],
  ])) {
    await open(
      page,
      games.map((game, at) => (at === index ? text : game)).join("\n"),
    );
    await says(page, "notice", /49 of 50 games opened: the menu has them\./);
    // The message of the file before has the same words.
    await equals(
      () => at(page, "refused").locator("li").allInnerTexts(),
      [said],
    );
  }
});

test("a position from a FEN is not called the starting position", async (t) => {
  const page = await shelf.page(t, SITE);
  const selected = () =>
    at(page, "games").evaluate(
      (menu) =>
        menu instanceof HTMLSelectElement && menu.selectedOptions[0]?.text,
    );
  assert.equal(await selected(), "Starting position");
  await open(page, "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1");
  await until(async () => (await selected()) === "Position from a FEN");
  await at(page, "games").selectOption({ label: "Starting position" });
  await until(() =>
    page.evaluate(() => document.querySelectorAll("#board piece").length >= 32),
  );
  assert.equal(await selected(), "Starting position");
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

for (const [id, reason] of /** @type {const} */ ([
  ["running1", /still being played/],
  ["Unclear1", /does not say whether this game is over/],
  ["lichess.org/Missing1", /has no game of this id/],
  ["Busy1234", /too many requests.*Wait a minute/],
  ["Broken12", /status 500/],
  ["Atomic12", /variant “Atomic”/],
  ["https://lichess.org/study/abcdefgh", /no public study/],
  ["https://www.chess.com/game/live/145591166861", /Share, then PGN/],
])) {
  test(`a game that a site does not deliver is reported: ${id}`, async (t) => {
    const page = await shelf.page(t, { ...SITE, allow: /404|429|500/ });
    await open(page, id);
    await says(page, "open-error", reason);
    assert.ok(await at(page, "open-dialog").isVisible());
  });
}

test("offline, a game of Lichess is an error in the dialog and by link", async (t) => {
  const page = await shelf.page(t, {
    ...SITE,
    allow: /ERR_INTERNET_DISCONNECTED/,
  });
  // The first opened game loads the code that opens games.
  await open(page, PGN);
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  // An analysis that runs reports that it cannot load its parts.
  await until(async () =>
    /Complete/.test((await at(page, "filling").textContent()) ?? ""),
  );
  await page.context().setOffline(true);
  await open(page, "q7ZvsdUF");
  await says(page, "open-error", /offline|cannot be reached/);
  await page.context().setOffline(false);
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
  "a famous game": {
    path: "site/#game=morphy-isouard-1858&ply=4",
    link: /#game=morphy-isouard-1858&/,
    isStored: true,
  },
  "a game of Lichess": {
    path: "site/#lichess=q7ZvsdUF&ply=4",
    link: /#lichess=q7ZvsdUF&/,
    isStored: true,
  },
  "a game of a link": {
    path: `site/#pgn=${encodeURIComponent(PGN)}&ply=4`,
    link: /#pgn/,
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

  test(`a move of ${name} survives a reload before the move is stored`, async (t) => {
    const page = await shelf.page(t, { path });
    await until(
      async () => (await page.locator("[data-testid=move]").count()) > 4,
    );
    await play(page, "a3");
    if (isStored) await stores(page, /\( ?3\. a3/);
    else
      await until(
        () => link.test(page.url()),
        () => page.url(),
      );
    // The next move waits for a store that never answers.
    await page.evaluate(() => {
      const request = { addEventListener() {} };
      /** @type {any} */
      const store = new Proxy(
        {},
        { get: (_, name) => () => (name === "index" ? store : request) },
      );
      IDBDatabase.prototype.transaction = /** @type {any} */ (
        () => ({ objectStore: () => store, addEventListener() {} })
      );
    });
    await play(page, "a6");
    await page.reload();
    await until(
      async () => JSON.stringify(await variations(page)) === '["a3","a6"]',
      async () => `${await variations(page)}`,
    );
    if (isStored) await stores(page, /\( ?3\. a3[^)]* a6/);
    assert.equal(
      await page.evaluate(() => localStorage.getItem("unsaved")),
      null,
    );
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

test("a deleted variation stays deleted after a reload, and Undo restores the variation", async (t) => {
  const page = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent(PGN.replace("3. Bc4", "3. Bc4 (3. Bb5 a6 4. Ba4) (3. d4)"))}`,
  });
  const all = ["Bb5", "a6", "Ba4", "d4"];
  const list = async (/** @type {string[]} */ expected) =>
    until(
      async () => (await variations(page)).join() === expected.join(),
      async () => `${await variations(page)}`,
    );
  await list(all);
  await page.locator("[data-testid=variation-move]", { hasText: "a6" }).click();
  await at(page, "remove").click();
  await list(["d4"]);
  await says(page, "notice", /The variation was deleted\.\s*Undo/);
  await at(page, "notice-action").click();
  await list(all);
  await page.locator("#moves [aria-current] .san", { hasText: "a6" }).waitFor();
  // The same by keys, with a promotion before it.
  await at(page, "promote").click();
  await moves(page, "e4 e5 Nf3 Nc6 Bb5 a6 Ba4");
  await page.locator("[data-testid=variation-move]", { hasText: "d4" }).click();
  await at(page, "remove").click();
  await list(["Bc4"]);
  await page.keyboard.press("Control+z");
  await list(["Bc4", "d4"]);
  await page.keyboard.press("Control+z");
  await list(all);
  await moves(page, "e4 e5 Nf3 Nc6 Bc4");
  assert.ok(await at(page, "notice").isHidden());
  await page
    .locator("[data-testid=variation-move]", { hasText: "Ba4" })
    .click();
  await at(page, "remove").click();
  await list(["d4"]);
  await until(
    () => /^#pgnz?=[^&]+&ply=4$/.test(new URL(page.url()).hash),
    () => page.url(),
  );
  await page.reload();
  await list(["d4"]);
  // The list has one copy of the game.
  await until(async () => (await opened(page)).length > 0);
  assert.deepEqual(await opened(page), ["Anna – Bert, 2024"]);
});

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
  await says(page, "open-error", /1\. e5 is not a legal move/);
  assert.equal(await at(page, "open-text").inputValue(), "1. e5");
  await page.keyboard.press("Escape");
  await at(page, "open-dialog").waitFor({ state: "hidden" });
  assert.equal(await field.inputValue(), "");
  // An empty field opens the dialog.
  await at(page, "quick-submit").click();
  await at(page, "open-dialog").waitFor();
});

test("a name without a comma stays whole, and the menu and the report show the whole name", async (t) => {
  const page = await shelf.page(t, SITE);
  await open(
    page,
    '[White "Bu Xiangzhi"]\n[Black "Carlsen, Magnus"]\n[Date "2017.09.12"]\n\n1. e4 e5 2. Bc4 Nf6 3. d3 Nc6 4. Nf3 Be7 1-0',
  );
  await until(async () =>
    (await page.title()).startsWith("Bu Xiangzhi – Carlsen, 2017"),
  );
  await until(
    async () => (await opened(page))[0] === "Bu Xiangzhi – Carlsen, 2017",
  );
  await page.locator("#report thead th").nth(1).waitFor();
  assert.deepEqual(await page.locator("#report thead th").allTextContents(), [
    "Bu Xiangzhi",
    "Carlsen",
  ]);
});

test("the first fifty games of a link are kept in order", async (t) => {
  const page = await shelf.page(t);
  const pgns = Array.from(
    { length: 60 },
    (_, n) => `[White "Player${n + 1}"]\n\n1. e4 e5 2. Nf3 Nc6 *`,
  ).join("\n\n");
  await page.goto(
    new URL(`site/#pgn=${encodeURIComponent(pgns)}`, shelf.server.url).href,
  );
  await says(page, "notice", /^60 games opened: the menu has the first 50\.$/);
  await page
    .locator('#games option:has-text("Player20")')
    .waitFor({ state: "attached" });
  await page.keyboard.press("g");
  await page.getByTestId("stored-game").nth(49).waitFor({ state: "attached" });
  assert.equal(await page.getByTestId("stored-game").count(), 50);
  assert.match(
    await page.getByTestId("stored-game").first().innerText(),
    /Player1\b/,
  );
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

test("without IndexedDB games are kept for the visit, and the page reports the missing storage", async (t) => {
  const page = await shelf.page(t, {
    ...SITE,
    before: () =>
      Object.defineProperty(globalThis, "indexedDB", { value: undefined }),
  });
  await open(page, PGN);
  await says(page, "notice", /does not store data for this page/);
  assert.deepEqual(await opened(page), ["Anna – Bert, 2024"]);
});

test("the first of thousands of games opens at once, and the page remains responsive", async (t) => {
  const page = await shelf.page(t, SITE);
  const games = 3000;
  await page.waitForLoadState("networkidle");
  const text = Array.from({ length: games }, (_, i) =>
    PGN.replace("Anna", `Player ${i}`),
  ).join("\n");
  await page.evaluate(() => {
    let longest = 0;
    document.documentElement.dataset.start = String(performance.now());
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        longest = Math.max(longest, entry.duration);
      document.documentElement.dataset.longest = String(longest);
    }).observe({ type: "longtask" });
  });
  await at(page, "open").click();
  await at(page, "open-file").setInputFiles({
    name: "many.pgn",
    mimeType: "text/plain",
    buffer: Buffer.from(text),
  });
  await until(() =>
    page.evaluate(
      () =>
        /Player 0 – Bert|0 – Bert/.test(document.title) &&
        /so far/.test(
          document.querySelector("[data-testid=notice]")?.textContent ?? "",
        ),
    ),
  );
  await says(page, "notice", /3,000 games opened/);
  const [longest, total] = await page.evaluate(() => {
    const { longest, start } = document.documentElement.dataset;
    return [Number(longest ?? 0), performance.now() - Number(start)];
  });
  t.diagnostic(
    `longest task ${Math.round(longest)} ms of ${Math.round(total)} ms`,
  );
  assert.ok(longest < total / 4, `longest task ${longest} ms of ${total} ms`);
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await page.keyboard.press("g");
  await says(page, "games-count", /^3,000 games$/);
  assert.equal(await at(page, "stored-game").count(), 200);
  await at(page, "games-search").fill("player 2999");
  await says(page, "games-count", /^1 of 3,000 games$/);
});

test("the opening is named", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#moves=e2e4,c7c5,g1f3,d7d6,d2d4,c5d4,f3d4,g8f6,b1c3,a7a6&ply=10",
  });
  await says(page, "opening", /^B90 Sicilian Defense: Najdorf Variation$/);
  await page.keyboard.press("Home");
  await until(() =>
    page.evaluate(
      () => document.querySelector("[data-testid=opening]")?.textContent === "",
    ),
  );
});

const firefox = ENGINES.find(({ name }) => name === "Firefox");
test(
  "Firefox opens, links and stores games",
  { skip: firefox?.missing.length !== 0 && "Firefox is not at hand" },
  async () => {
    assert.ok(firefox);
    const { driver, close } = await firefox.launch();
    try {
      const shows = (
        /** @type {string} */ what,
        /** @type {() => boolean} */ condition,
      ) => until(() => driver.executeScript(`return (${condition})()`), what);
      await driver.get(new URL("site/", shelf.server.url).href);
      await driver.findElement({ css: "[data-testid=open]" }).click();
      await shows("the dialog is open", () =>
        Boolean(document.querySelector("[data-testid=open-text]")),
      );
      await driver
        .findElement({ css: "[data-testid=open-text]" })
        .sendKeys('[White "Karl"]\n[Black "Lisa"]\n\n1. e4 e5 2. Sf3 Sc6 *');
      await driver.findElement({ css: "[data-testid=open-submit]" }).click();
      await shows(
        "the game is on the board",
        () =>
          document.querySelectorAll("[data-testid=move]").length === 4 &&
          /Karl – Lisa/.test(document.title),
      );
      await shows("the link has it", () => /^#pgnz?=/.test(location.hash));
      await shows(
        "the game is stored",
        () =>
          document.querySelectorAll('#games optgroup[label="Opened"] option')
            .length === 2,
      );
      await driver.navigate().refresh();
      await shows(
        "a reload keeps it",
        () =>
          document.querySelectorAll("[data-testid=move]").length === 4 &&
          /Karl – Lisa/.test(document.title),
      );
      await driver.findElement({ css: "[data-testid=open]" }).click();
      await shows("the dialog is open", () =>
        Boolean(document.querySelector("[data-testid=open-text]")),
      );
      await driver
        .findElement({ css: "[data-testid=open-text]" })
        .sendKeys("https://lichess.org/q7ZvsdUF");
      await driver.findElement({ css: "[data-testid=open-submit]" }).click();
      await shows(
        "Lichess' game is on the board",
        () =>
          location.hash === "#lichess=q7ZvsdUF" &&
          document.querySelectorAll("[data-testid=move]").length === 5,
      );
      await driver.navigate().back();
      await shows("back leads to the game before", () =>
        /Karl – Lisa/.test(document.title),
      );
      await driver.findElement({ css: "body" }).sendKeys("g");
      await shows(
        "the list has both",
        () =>
          document.querySelectorAll("[data-testid=stored-game]").length === 2,
      );
    } finally {
      await close();
    }
  },
);
