// Precedent: a game of moves that were played before, by mouse and keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { clickSquares } from "./support/page.mjs";
import { SHELFISH } from "./support/paths.mjs";
import { equals, reads } from "./support/until.mjs";

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

before(async () => {
  const pgn = join(shelf.root, "tiny.pgn");
  writeFileSync(pgn, GAMES);
  execFileSync(
    SHELFISH,
    ["book", "build", "--quiet", pgn, "-o", join(shelf.root, "tiny")],
    { stdio: "pipe" },
  );
});

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

/** Waits until these moves are allowed. Returns the text of the number of games. */
async function shows(/** @type {Page} */ page, /** @type {string[]} */ moves) {
  await equals(() => list(page), moves);
  return page.getByTestId("reached").innerText();
}

const ends = (/** @type {Page} */ page, /** @type {RegExp} */ words) =>
  page.getByTestId("end").filter({ hasText: words }).waitFor();

test("only moves of the book are allowed, by clicks and keys, and the end names the number of games", async (t) => {
  const page = await shelf.page(t, { path: TINY });
  assert.equal(await shows(page, ["d4 12", "e4 4"]), "16 games in this book");
  // No game began with this move: the board rejects it.
  await clickSquares(page, ["c2", "c4", "e2", "e4"]);
  await shows(page, ["e5 4"]);
  for (const next of [["Nf3 4"], ["Nc6 4"], ["Bb5 3", "Bc4 1"]]) {
    await page.keyboard.press("1");
    await shows(page, next);
  }
  await page.getByTestId("choice").first().click();
  await ends(
    page,
    /3 games of the book came this far, and 3 ended exactly here/,
  );
  assert.match(
    (await page.getByTestId("analyse").getAttribute("href")) ?? "",
    /^\.\/#moves=e2e4,e7e5,g1f3,b8c6,f1b5/,
  );
  await page.getByTestId("end-back").click();
  await shows(page, ["Bb5 3", "Bc4 1"]);
  await page.keyboard.press("2");
  await ends(page, /You replayed this game\./);
  await page.getByTestId("end-new").click();
  await shows(page, ["d4 12", "e4 4"]);
  assert.equal(
    await page.evaluate(() => document.activeElement?.id),
    "flip",
    "the focus moves to another button",
  );
});

test("a pawn can only promote to pieces of earlier games", async (t) => {
  const page = await shelf.page(t, {
    path: `${TINY}#fen=1n2k3/P7/8/8/8/8/8/4K3_w_-_-_0_1`,
  });
  await shows(page, ["a8=Q 2", "a8=N 1", "axb8=R+ 1"]);
  await clickSquares(page, ["a7", "a8"]);
  await page.getByTestId("promote-rook").click();
  await shows(page, ["a8=Q 2", "a8=N 1", "axb8=R+ 1"]);
  await clickSquares(page, ["a7", "b8"]);
  await page.getByTestId("promote-rook").click();
  await ends(page, /You replayed this game\./);
});

test("the error of an unreadable book names a remedy", async (t) => {
  const page = await shelf.page(t, {
    path: "site/precedent.html?book=db/manifest.json",
    allow: /./,
  });
  await page.getByTestId("retry").waitFor();
  await reads(
    page,
    "status",
    /no readable book[^]*shelfish book build GAMES\.pgn/,
  );
});
