// Precedent: a game of moves that were played before, or of moves that are not in the book, by mouse, touch and keys, online and offline.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { suiteIn } from "./support/engines.mjs";
import { START, lab } from "./support/lab.mjs";
import { clickSquares } from "./support/page.mjs";
import { SHELFISH } from "./support/paths.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Twelve games of two moves, three games and one game that diverge later, and four promotions. */
const GAMES = [
  ...Array(12).fill("1. d4 d5 0-1"),
  ...Array(3).fill("1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0"),
  "1. e4 e5 2. Nf3 Nc6 3. Bc4 1/2-1/2",
  ...["a8=Q", "a8=Q", "a8=N", "axb8=R"].map(
    (move) => `[FEN "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. ${move} 1-0`,
  ),
].join("\n\n");
const TINY = "site/precedent.html?book=../tiny/manifest.json";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab({ own: true });
  const pgn = join(shelf.root, "tiny.pgn");
  writeFileSync(pgn, GAMES);
  execFileSync(
    SHELFISH,
    ["book", "build", "--quiet", pgn, "-o", join(shelf.root, "tiny")],
    { stdio: "pipe" },
  );
});
after(() => shelf.close());

/** Returns the allowed moves with their numbers of games. */
const list = (/** @type {Page} */ page) =>
  page.$$eval("#moves:not(.stale) button", (all) =>
    all.map((each) =>
      [".san", ".games"]
        .map((part) => each.querySelector(part)?.textContent ?? "")
        .join(" ")
        .trim(),
    ),
  );

/** Waits until these moves are allowed. Returns the label of the number of games. */
async function shows(/** @type {Page} */ page, /** @type {string[]} */ moves) {
  await equals(() => list(page), moves);
  return page.getByTestId("odometer").getAttribute("aria-label");
}

/** Returns the counts on the squares. */
const marks = (/** @type {Page} */ page) =>
  page.$$eval("#board .cg-custom-svgs text", (all) =>
    all.map((each) => each.textContent).sort(),
  );

const ends = (/** @type {Page} */ page, /** @type {RegExp} */ words) =>
  page.getByTestId("end").filter({ hasText: words }).waitFor();

test("only moves of the book are allowed, a single move is played automatically, and the end shows the number of games that ended there", async (t) => {
  const page = await shelf.page(t, { path: TINY });
  assert.equal(await shows(page, ["d4 12", "e4 4"]), "16 games");
  assert.deepEqual(await marks(page), ["12", "4"]);
  // No game began with this move: the board rejects it.
  await clickSquares(page, ["c2", "c4", "e2"]);
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll("#board .cg-custom-svgs text").length === 1,
    ),
  );
  await clickSquares(page, ["e4"]);
  assert.equal(await shows(page, ["Bb5 3", "Bc4 1"]), "4 games");
  assert.equal(
    await page.getByTestId("line").innerText(),
    "1. e4 e5 2. Nf3 Nc6",
  );
  await page.getByTestId("choice").first().click();
  await ends(
    page,
    /3 games ended exactly here\.\s*White won 3, Black won 0, 0 were drawn\./,
  );
  assert.match(
    (await page.getByTestId("analyse").getAttribute("href")) ?? "",
    /^\.\/#moves=e2e4,e7e5,g1f3,b8c6,f1b5/,
  );
  // Goes back to the last choice, not to a forced move, which would be played again.
  await page.getByTestId("end-back").click();
  await shows(page, ["Bb5 3", "Bc4 1"]);
  await page.getByTestId("choice").nth(1).click();
  await ends(page, /You replayed this game\./);
  await page.keyboard.press("ArrowLeft");
  await shows(page, ["Bb5 3", "Bc4 1"]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await shows(page, ["d4 12", "e4 4"]), "16 games");
});

test("a pawn can only promote to pieces of earlier games, with counts", async (t) => {
  const page = await shelf.page(t, {
    path: `${TINY}#fen=1n2k3/P7/8/8/8/8/8/4K3_w_-_-_0_1`,
  });
  await shows(page, ["a8=Q 2", "a8=N 1", "axb8=R+ 1"]);
  await clickSquares(page, ["a7", "a8"]);
  const offers = () =>
    page.$$eval("#promotion button", (all) =>
      all.map((each) => each.getAttribute("aria-label")),
    );
  await page.getByTestId("promote-queen").waitFor();
  assert.deepEqual(await offers(), ["queen, 2", "knight, 1"]);
  await page.keyboard.press("Escape");
  await clickSquares(page, ["a7", "b8"]);
  await page.getByTestId("promote-rook").click();
  await ends(page, /You replayed this game\./);
});

test("a new game that begins during a step back remains", async (t) => {
  const page = await shelf.page(t);
  /** @type {(() => void)[]} */
  const held = [];
  let isHeld = true;
  const isBook = (/** @type {URL} */ { pathname }) =>
    pathname.startsWith("/tiny/");
  await page.route(isBook, (route) =>
    isHeld ? void held.push(() => void route.continue()) : route.continue(),
  );
  await page.goto(
    new URL(`${TINY}#moves=e2e4,e7e5,g1f3,b8c6,f1b5`, shelf.server.url).href,
    { waitUntil: "commit" },
  );
  await page
    .getByTestId("status")
    .filter({ hasText: "Looking it up…" })
    .waitFor();
  await page.getByTestId("back").press("Enter");
  await page.getByTestId("new").press("Enter");
  isHeld = false;
  for (const release of held) release();
  await shows(page, ["d4 12", "e4 4"]);
  assert.equal(await page.getByTestId("line").innerText(), "A new game.");
  await page.keyboard.press("1");
  await ends(page, /./);
  await page.getByTestId("end-new").press("Enter");
  await shows(page, ["d4 12", "e4 4"]);
  assert.equal(
    await page.evaluate(() => document.activeElement?.id),
    "flip",
    "the focus moves to another button",
  );
});

test("a game can be played by keys alone", async (t) => {
  const page = await shelf.page(t, { path: TINY });
  await shows(page, ["d4 12", "e4 4"]);
  await page.keyboard.press("ArrowUp");
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await page.keyboard.press("Enter");
  await shows(page, ["Bb5 3", "Bc4 1"]);
  await page.keyboard.press("2");
  await ends(page, /You replayed this game/);
  await page.keyboard.press("n");
  await shows(page, ["d4 12", "e4 4"]);
  assert.equal(
    await page.getByTestId("sound").getAttribute("aria-pressed"),
    "false",
  );
  await page.keyboard.press("s");
  assert.equal(
    await page.getByTestId("sound").getAttribute("aria-pressed"),
    "true",
  );
  await page.keyboard.press("f");
  await page.locator(".cg-wrap.orientation-black").waitFor();
  await page.keyboard.press("u");
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll("#moves:not(.stale) button").length === 18,
    ),
  );
  await page.reload();
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll("#moves:not(.stale) button").length === 18,
    ),
  );
  assert.equal(
    await page.getByTestId("sound").getAttribute("aria-pressed"),
    "true",
  );
});

test("Unprecedented allows every move that is not in the book", async (t) => {
  const page = await shelf.page(t, { path: TINY });
  await shows(page, ["d4 12", "e4 4"]);
  await page.getByTestId("unprecedented").check();
  await until(() =>
    page.evaluate(() =>
      /^White to move: 18 of 20 moves are not in this book\.$/.test(
        document.querySelector("#status")?.textContent ?? "",
      ),
    ),
  );
  const moves = await list(page);
  assert.ok(
    !moves.includes("e4") && !moves.includes("d4") && moves.includes("Nf3"),
    moves.join(),
  );
  await clickSquares(page, ["f2", "f3"]);
  for (const move of ["e5", "g4", "Qh4#"])
    await page
      .getByTestId("choice")
      .filter({ hasText: new RegExp(`^${move}$`) })
      .click();
  await ends(page, /Checkmate\.\s*This position is not in the book/);
  await page.getByTestId("precedent").check();
  assert.equal(await shows(page, ["d4 12", "e4 4"]), "16 games");
});

test("with a book with limits, the page makes no claim about positions that are not in the book", async (t) => {
  const page = await shelf.page(t, {
    path: "site/precedent.html?unprecedented#moves=f2f3,e7e5,g2g4&ply=3",
  });
  const limits =
    "This position is not in the book, which has the first 24 half-moves of each game and only positions that at least 5 games reached.";
  await until(
    async () =>
      (await page.getByTestId("status").innerText()) ===
      `Black to move. ${limits}`,
  );
  await page
    .getByTestId("choice")
    .filter({ hasText: /^Qh4#$/ })
    .click();
  await ends(
    page,
    /Checkmate\.\s*This position is not in the book, which has /,
  );
  await page.getByTestId("precedent").check();
  await page.goto(
    new URL(
      "site/precedent.html?3#fen=8/8/8/3k4/8/8/3K4/N7_w_-_-_0_1",
      shelf.server.url,
    ).href,
  );
  await ends(
    page,
    /No precedent in this book\.\s*This position is not in the book, which has /,
  );
  assert.doesNotMatch(await page.locator("body").innerText(), /never|no game/i);
});

for (const [name, viewport] of Object.entries({
  "a phone": { width: 390, height: 844 },
  "a desk": { width: 1366, height: 768 },
})) {
  test(`the sample book has the counts of the program, and a touch plays a move, on ${name}`, async (t) => {
    const hasTouch = name === "a phone";
    const page = await shelf.page(t, {
      path: "site/precedent.html",
      context: { viewport, hasTouch },
    });
    const told = (/** @type {string} */ fen) => {
      const { moves } = JSON.parse(
        execFileSync(
          SHELFISH,
          ["explore", "-d", join(shelf.root, "site", "book"), "--json", fen],
          { encoding: "utf8" },
        ),
      );
      return moves.map(
        (/** @type {any} */ { san, white, draws, black }) =>
          `${san} ${(white + draws + black).toLocaleString("en")}`,
      );
    };
    await shows(page, told(START));
    const e4 = page.getByTestId("choice").filter({ hasText: /^e4/ });
    await (hasTouch ? e4.tap() : e4.click());
    await shows(
      page,
      told("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"),
    );
    await until(() =>
      page.evaluate(
        () =>
          document.querySelector("#opening")?.textContent ===
          "B00 King's Pawn Game",
      ),
    );
    const outside = await page.evaluate(
      () =>
        [
          ...document.querySelectorAll(
            "#board, #moves button, .controls button, .rules label, #odometer",
          ),
        ].filter((part) => {
          const box = part.getBoundingClientRect();
          return box.width < 4 || box.left < 0 || box.right > innerWidth + 0.5;
        }).length,
    );
    assert.equal(outside, 0);
    // In a large book every first move was played: the page offers the rarest moves.
    await page.getByTestId("new").click();
    await page.getByTestId("unprecedented").check();
    await shows(page, told(START).reverse().slice(0, 5));
  });
}

test("visited positions can be played offline", async (t) => {
  const page = await shelf.page(t, {
    path: TINY,
    allow: /ERR_INTERNET_DISCONNECTED/,
  });
  await shows(page, ["d4 12", "e4 4"]);
  await page.keyboard.press("2");
  await shows(page, ["Bb5 3", "Bc4 1"]);
  await until(() =>
    page.evaluate(
      () => navigator.serviceWorker.controller?.state === "activated",
    ),
  );
  await page.context().setOffline(true);
  await page.goto(new URL(TINY, shelf.server.url).href);
  await shows(page, ["d4 12", "e4 4"]);
  await page.keyboard.press("2");
  await shows(page, ["Bb5 3", "Bc4 1"]);
});

test("the error of an unreadable book names a remedy", async (t) => {
  const page = await shelf.page(t, {
    path: "site/precedent.html?book=db/manifest.json",
    allow: /./,
  });
  await page.getByTestId("retry").waitFor();
  assert.match(
    await page.getByTestId("status").innerText(),
    /no readable book[^]*shelfish book build GAMES\.pgn/,
  );
});

suiteIn(["Firefox"], (session) => {
  test("clicks and keys play as in Chromium", async () => {
    const { driver } = session;
    const moves = () =>
      driver.executeScript(
        `return [...document.querySelectorAll("#moves:not(.stale) button")].map((each) => [".san", ".games"].map((part) => each.querySelector(part)?.textContent ?? "").join(" "))`,
      );
    const shown = (/** @type {string[]} */ expected) => equals(moves, expected);
    await driver.get(`${shelf.server.url}${TINY}`);
    await shown(["d4 12", "e4 4"]);
    await driver.findElement(By.css("#moves li:nth-child(2) button")).click();
    await shown(["Bb5 3", "Bc4 1"]);
    await driver.actions().sendKeys("1").perform();
    await until(async () =>
      /3 games ended exactly here/.test(
        await driver.findElement(By.id("end")).getText(),
      ),
    );
    await driver.actions().sendKeys(Key.ARROW_LEFT).perform();
    await shown(["Bb5 3", "Bc4 1"]);
  });
});

test("the challenge of Unprecedented counts moves against the engine, keeps the best number, and ends below −1", async (t) => {
  const page = await shelf.page(t, { path: `${TINY}&unprecedented` });
  const status = (/** @type {RegExp} */ words) =>
    page.getByTestId("status").filter({ hasText: words }).waitFor();
  await until(async () => (await list(page)).length === 18);
  await page.getByTestId("challenge").check();
  await status(/^Leave this book, and stay above −1\. White to move: 18 of 20/);
  await page
    .locator("#moves button")
    .filter({ hasText: /^Nf3|Nf3$/ })
    .first()
    .click();
  await status(
    /^1 move so far\. \S+ by the engine, depth \d+\. Your best: 1\./,
  );
  assert.match(await page.getByTestId("line").innerText(), /^1\. Nf3 \S+$/);
  assert.ok(
    await page.getByTestId("back").isDisabled(),
    "no move can be taken back",
  );
  // After a new game the best number remains.
  await page.getByTestId("new").click();
  await status(/Your best: 1\./);
  // In a lost position the first move is too much.
  await page.goto(
    new URL(
      `${TINY}&unprecedented#fen=4k3/8/8/8/8/8/3q4/K7_w_-_-_0_1`,
      shelf.server.url,
    ).href,
  );
  await page.reload();
  await page.getByTestId("challenge").check();
  await page.locator("#moves:not(.stale) button").first().click();
  await ends(
    page,
    /^\s*0 moves outside of this book\.\s*Kb1 is too much: (-|#-)\S+ by the engine, depth \d+\. The challenge ends below −1 for you\./,
  );
  await page.getByTestId("end-new").click();
  await status(/Your best: 1\./);
  // Without the challenge, moves of both sides are the player's again.
  await page.getByTestId("precedent").check();
  assert.equal(await page.getByTestId("challenge").isVisible(), false);
  await shows(page, ["d4 12", "e4 4"]);
});
