// "Learn from your mistakes": questions of a report, by the mouse, typed moves and touches.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import { answer, at, current, withoutEngine } from "./support/page.mjs";
import * as shelf from "./support/shelf.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** The database settles the judgments of this game. */
const FAMOUS = {
  path: "site/#game=kasparov-topalov-1999",
  before: withoutEngine,
};

/** Begins the questions from the report, which may be a tab. */
async function start(/** @type {Page} */ page, hasTouch = false) {
  for (const button of [
    page.locator("[data-shows=report]"),
    at(page, "learn-start"),
  ])
    await (hasTouch ? button.tap() : button.click());
}

/** Waits until the question or its answer matches. */
const words = (/** @type {Page} */ page, /** @type {RegExp} */ pattern) =>
  reads(page, "learn-words", pattern);

/** Starts the questions of Black, and skips to the question about a move. */
async function skipTo(/** @type {Page} */ page, /** @type {RegExp} */ move) {
  await page.keyboard.press("f");
  await start(page);
  while (!move.test((await at(page, "learn-words").textContent()) ?? ""))
    await at(page, "learn-next").click();
}

test("each settled mistake is a question: a hint, the move of the game, the answer with the refutation, and the best move", async (t) => {
  const page = await shelf.page(t, FAMOUS);
  // Mistakes are asked first. White has an inaccuracy only.
  await start(page);
  await reads(page, "learn", /^Question 1 of 2/);
  await words(page, /was a (mistake|blunder)\. Find a better move for Black/);
  for (let asked = 0; asked < 2; asked++) await at(page, "learn-next").click();
  await at(page, "learn-inaccuracies-white").click();
  await reads(page, "learn", /^Question 1 of 1/);
  const question =
    /^\d+\. (\S+) was an (inaccuracy)\. Find a better move for White\.$/;
  await words(page, question);
  const [, played = ""] =
    question.exec((await at(page, "learn-words").textContent()) ?? "") ?? [];
  // Nothing on the page gives the answer away.
  for (const id of ["score", "lines", "judgment"])
    assert.equal(await at(page, id).locator("visible=true").count(), 0, id);
  await equals(() => page.locator("#board .cg-shapes line").count(), 0);
  const list = () => page.locator("#moves .san").allTextContents();
  const moves = await list();
  await at(page, "learn-hint").click();
  await words(page, /^A better move is with the \w+ on [a-h][1-8]\.$/);
  await equals(() => page.locator("#board .cg-shapes circle").count(), 1);
  await at(page, "learn-hint").click();
  await words(page, /^The \w+ on [a-h][1-8] goes to [a-h][1-8]\.$/);
  await answer(page, played);
  await words(
    page,
    /is the move of the game\. Try again\. The answer to it is \d+/,
  );
  await at(page, "learn-show").click();
  await words(page, /^The best line: .*The answer to .* was \d+/);
  const best = await at(page, "learn-words")
    .getByTestId("line-move")
    .first()
    .textContent();
  assert.ok(await at(page, "score").isVisible());
  await at(page, "learn-next").click();
  await words(page, /^You found 0 of 1 better move\.$/);
  await at(page, "learn-inaccuracies-white").click();
  await answer(page, String(best));
  await words(page, / is right\. The line: /);
  await at(page, "learn-next").click();
  await words(page, /^You found 1 of 1 better move\.$/);
  assert.deepEqual(
    await list(),
    moves,
    "answers do not become variations of the game",
  );
  await at(page, "learn-mistakes-black").click();
  await page.locator(".cg-wrap.orientation-black").waitFor();
  await reads(page, "learn", /^Question 1 of [2-9]/);
  // A step leaves the question, and a button returns to it.
  await page.keyboard.press("ArrowRight");
  await words(page, /another position/);
  await at(page, "learn-back").click();
  await words(page, /Find a better move for Black/);
  await at(page, "learn-close").click();
  assert.ok(await at(page, "learn").isHidden());
});

test("the answer and the row of the judgment explain why the move of the game was bad, and the line is played from the answer", async (t) => {
  const page = await shelf.page(t, {
    ...FAMOUS,
    path: "site/#game=anderssen-kieseritzky-1851",
  });
  await skipTo(page, /20… Na6 was a blunder/);
  await answer(page, "Na6");
  await words(
    page,
    /^Na6 is the move of the game: it allows mate in 3\. Try again\./,
  );
  await at(page, "learn-show").click();
  await words(
    page,
    /^The best line: .*\. Na6 allows mate in 3: 21\. ?Nxg7\+ .*Be7#/,
  );
  await at(page, "learn-words")
    .getByRole("button", { name: "23. Be7#" })
    .click();
  assert.equal(await current(page), "Be7#");
  await page.locator("#moves .san", { hasText: "Na6" }).first().click();
  await reads(page, "judgment", /^Blunder: allows mate in 3\. Best was 20/);
});

test("the engine checks moves that the database does not have: a move that keeps the result counts, another is refuted", async (t) => {
  const page = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#")}`,
    before: () => localStorage.setItem("settings", '{"nodes":20000}'),
  });
  await skipTo(page, /^3… Nf6 was a blunder\. Find a better move for Black\.$/);
  await answer(page, "d6");
  await words(
    page,
    /^d6 gives away too much \(#1\)\. Try again\. The answer to it is 4\. ?Qxf7#/,
  );
  await answer(page, "g6");
  await words(page, /^g6.*is right|is good too/);
});

test("a slower win is right, by the engine and the measure of the report", async (t) => {
  const missed =
    '[SetUp "1"]\n[FEN "2b3k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1"]\n\n1. Qg4 Bxg4 *';
  const page = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent(missed)}`,
    before: () => localStorage.setItem("settings", '{"nodes":20000}'),
  });
  await start(page);
  await words(page, /^1\. Qg4 was a blunder/);
  await answer(page, "Qd7");
  await words(page, /^Qd7 gives away too much \(-/);
  await answer(page, "Qd6");
  await words(page, /^Qd6 is right: it wins too \(.+, the fastest #1\)/);
});

for (const [width, height, colorScheme] of /** @type {const} */ ([
  [360, 640, "light"],
  [844, 390, "dark"],
  [1366, 768, "dark"],
])) {
  test(`the question and its buttons are in view next to the board at ${width} by ${height}, ${colorScheme}`, async (t) => {
    const hasTouch = width < 1000;
    const page = await shelf.page(t, {
      ...FAMOUS,
      context: { viewport: { width, height }, hasTouch, colorScheme },
    });
    await start(page, hasTouch);
    await words(page, /Find a better move/);
    await page.evaluate(() => scrollTo(0, 0));
    const outside = await page.$$eval(
      "#board, [data-testid=learn-words], [data-testid=learn] button",
      (all) =>
        all
          .filter((each) => {
            const { left, top, right, bottom } = each.getBoundingClientRect();
            const hit = document.elementFromPoint(
              (left + right) / 2,
              (top + bottom) / 2,
            );
            return (
              left < 0 ||
              top < 0 ||
              right > innerWidth + 0.5 ||
              bottom > innerHeight + 0.5 ||
              !(each.contains(hit) || hit?.contains(each))
            );
          })
          .map((each) => each.textContent),
    );
    assert.deepEqual(outside, []);
    assert.deepEqual(await findings(page), []);
  });
}
