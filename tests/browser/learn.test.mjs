// "Learn from your mistakes": questions of a report, by the mouse, typed moves and touches.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { lab } from "./support/lab.mjs";
import { at, withoutEngine } from "./support/page.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** The database settles the judgments of this game. */
const FAMOUS = {
  path: "site/#game=kasparov-topalov-1999",
  before: withoutEngine,
};

/** Types a move. */
async function answer(/** @type {Page} */ page, /** @type {string} */ san) {
  await at(page, "move-input").fill(san);
  await at(page, "move-input").press("Enter");
}

/** Shows the answer of the question and returns its first move. */
async function shown(/** @type {Page} */ page) {
  await at(page, "learn-show").click();
  return String(
    await at(page, "learn-words")
      .getByTestId("line-move")
      .first()
      .textContent(),
  );
}

test("each settled mistake is a question: a hint, the move of the game, the answer with the refutation, and the best move", async (t) => {
  const page = await shelf.page(t, FAMOUS);
  await at(page, "learn-start").click();
  await reads(page, "learn", /^Question 1 of 1/);
  await reads(
    page,
    "learn-words",
    /^\d+\. \S+ was an? (inaccuracy|mistake|blunder)\. Find a better move for White\.$/,
  );
  const played =
    /^\d+\. (\S+) was/.exec(
      (await at(page, "learn-words").textContent()) ?? "",
    )?.[1] ?? assert.fail("no move");
  // Nothing on the page gives the answer away.
  for (const id of ["score", "lines", "judgment"])
    assert.equal(await at(page, id).locator("visible=true").count(), 0, id);
  await equals(() => page.locator("#board .cg-shapes line").count(), 0);
  const list = () => page.locator("#moves .san").allTextContents();
  const moves = await list();
  await at(page, "learn-hint").click();
  await reads(
    page,
    "learn-words",
    /^A better move is with the \w+ on [a-h][1-8]\.$/,
  );
  await until(() =>
    page.evaluate(
      () => document.querySelectorAll("#board .cg-shapes circle").length === 1,
    ),
  );
  await at(page, "learn-hint").click();
  await reads(
    page,
    "learn-words",
    /^The \w+ on [a-h][1-8] goes to [a-h][1-8]\.$/,
  );
  assert.equal(await at(page, "learn-hint").count(), 0);
  await answer(page, played);
  await reads(
    page,
    "learn-words",
    /is the move of the game\. Try again\. The answer to it is \d+/,
  );
  const best = await shown(page);
  await reads(
    page,
    "learn-words",
    new RegExp(`^The best line: .*The answer to .* was \\d+`),
  );
  assert.ok(
    await at(page, "score").isVisible(),
    "the evaluation is shown again",
  );
  await at(page, "learn-next").click();
  await reads(page, "learn-words", /^You found 0 of 1 better move\.$/);
  await at(page, "learn-again").click();
  await answer(page, best);
  await reads(page, "learn-words", / is right\. The line: /);
  await at(page, "learn-next").click();
  await reads(page, "learn-words", /^You found 1 of 1 better move\.$/);
  assert.deepEqual(
    await list(),
    moves,
    "answers do not become variations of the game",
  );
  await at(page, "learn-other").click();
  await page.locator(".cg-wrap.orientation-black").waitFor();
  await reads(page, "learn", /^Question 1 of [2-9]/);
  // A step leaves the question, and a button returns to it.
  await page.keyboard.press("ArrowRight");
  await reads(page, "learn-words", /another position/);
  await at(page, "learn-back").click();
  await reads(page, "learn-words", /Find a better move for Black/);
  await at(page, "learn-next").click();
  await reads(page, "learn", /^Question 2 of/);
  await at(page, "learn-close").click();
  assert.ok(await at(page, "learn").isHidden());
  assert.ok(await at(page, "score").isVisible());
});

test("the answer and the row of the judgment explain why the move of the game was bad, and the line is played from the answer", async (t) => {
  const page = await shelf.page(t, {
    ...FAMOUS,
    path: "site/#game=anderssen-kieseritzky-1851",
  });
  await page.keyboard.press("f");
  await at(page, "learn-start").click();
  while (
    !/20… Na6 was a blunder/.test(
      (await at(page, "learn-words").textContent()) ?? "",
    )
  )
    await at(page, "learn-next").click();
  await answer(page, "Na6");
  await reads(
    page,
    "learn-words",
    /^Na6 is the move of the game: it allows mate in 3\. Try again\./,
  );
  await at(page, "learn-show").click();
  await reads(
    page,
    "learn-words",
    /^The best line: .*\. Na6 allows mate in 3: 21\. ?Nxg7\+ .*Be7#/,
  );
  await at(page, "learn-words")
    .getByRole("button", { name: "23. Be7#" })
    .click();
  assert.equal(
    await page.locator("#moves [aria-current] .san").textContent(),
    "Be7#",
  );
  await page.locator("#moves .san", { hasText: "Na6" }).first().click();
  await reads(page, "judgment", /^Blunder: allows mate in 3\. Best was 20/);
});

test("the engine checks moves that the database does not have: a move that keeps the result counts, another is refuted", async (t) => {
  const settings = () => localStorage.setItem("settings", '{"nodes":20000}');
  const page = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#")}`,
    before: settings,
  });
  await page.keyboard.press("f");
  await at(page, "learn-start").click();
  for (
    let skip = 0;
    skip < 3 &&
    !/3… Nf6/.test((await at(page, "learn-words").textContent()) ?? "");
    skip++
  )
    await at(page, "learn-next").click();
  await reads(
    page,
    "learn-words",
    /^3… Nf6 was a blunder\. Find a better move for Black\.$/,
  );
  await answer(page, "d6");
  await reads(
    page,
    "learn-words",
    /^d6 gives away too much \(#1\)\. Try again\. The answer to it is 4\. ?Qxf7#/,
  );
  let good = 0;
  for (const move of ["Qe7", "Qf6", "g6"]) {
    await answer(page, move);
    await until(async () =>
      /is right|is good too|gives away/.test(
        (await at(page, "learn-words").textContent()) ?? "",
      ),
    );
    if (!(await at(page, "learn-show").count())) {
      good++;
      // The question begins again.
      while (!(await at(page, "learn-again").count()))
        await at(page, "learn-next").click();
      await at(page, "learn-again").click();
      for (
        let skip = 0;
        skip < 3 &&
        !/3… Nf6/.test((await at(page, "learn-words").textContent()) ?? "");
        skip++
      )
        await at(page, "learn-next").click();
    }
  }
  assert.ok(good >= 2, `${good} of three good moves`);
});

for (const [width, height] of /** @type {const} */ ([
  [360, 640],
  [390, 844],
  [844, 390],
  [683, 384],
  [1366, 768],
  [1920, 1080],
])) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`the question and its buttons are in view next to the board at ${width} by ${height}, ${colorScheme}`, async (t) => {
      const page = await shelf.page(t, {
        ...FAMOUS,
        context: {
          viewport: { width, height },
          hasTouch: width < 1000,
          colorScheme,
        },
      });
      const start = at(page, "learn-start");
      await (width < 1000 ? start.tap() : start.click());
      await reads(page, "learn-words", /Find a better move/);
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
}
