// The page to play on: real clicks, taps and keys against the engine, at the size of a phone and of a desk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { lab } from "./support/lab.mjs";
import { at, square } from "./support/page.mjs";
import { SHELFISH } from "./support/paths.mjs";
import { recordShifts, shifts } from "./support/shifts.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab({ own: true })));
after(() => shelf.close());

const MATE_IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/R5K1_w_-_-_0_1";

/** Clicks or taps a square, White below. */
async function touch(
  /** @type {Page} */ page,
  /** @type {string} */ name,
  isTap = false,
  below = "white",
) {
  const { x, y } = await square(page, name, { isFlipped: below === "black" });
  await (isTap ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
}

async function type(/** @type {Page} */ page, /** @type {string} */ move) {
  await page.keyboard.press("m");
  await page.keyboard.type(move);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}

for (const { width, height, isPhone, colorScheme } of /** @type {const} */ ([
  { width: 390, height: 844, isPhone: true, colorScheme: "light" },
  { width: 360, height: 640, isPhone: true, colorScheme: "dark" },
  { width: 740, height: 360, isPhone: true, colorScheme: "light" },
  { width: 1366, height: 768, isPhone: false, colorScheme: "dark" },
])) {
  test(`a game is started, moves are played, advised and taken back at ${width} by ${height}, and no element moves`, async (t) => {
    const context = {
      viewport: { width, height },
      hasTouch: isPhone,
      isMobile: isPhone,
      colorScheme,
      reducedMotion: /** @type {const} */ ("reduce"),
    };
    const page = await shelf.page(t, { path: "site/play.html", context });
    await at(page, "level").selectOption({ label: "Learner, 1000" });
    assert.deepEqual(await findings(page), []);
    await at(page, "start").click();
    await reads(page, "status", /^Your move/);
    await recordShifts(page);
    await touch(page, "e2", isPhone);
    await touch(page, "e4", isPhone);
    await reads(page, "status", /^1… \S+ Your move/);
    assert.equal(await page.locator("#sheet button").count(), 2);
    assert.equal(
      await page.locator("#sheet button").first().textContent(),
      "e4",
    );
    await at(page, "hint").click();
    await reads(page, "status", /^Hint: 2\. \S+/);
    await page
      .locator("#board .cg-shapes line, #board .cg-shapes g")
      .first()
      .waitFor({ state: "attached" });
    await at(page, "back").click();
    await reads(page, "status", /^Your move/);
    assert.equal(await page.locator("#sheet button").count(), 0);
    assert.deepEqual(await shifts(page), []);
    const outside = await page.evaluate(() =>
      ["#above", "#board", "#below", "#status"].filter((name) => {
        const box = document.querySelector(name)?.getBoundingClientRect();
        return (
          !box ||
          box.height < 4 ||
          box.left < 0 ||
          box.top < 0 ||
          box.right > innerWidth + 0.5 ||
          box.bottom > innerHeight + 0.5
        );
      }),
    );
    assert.deepEqual(
      outside,
      [],
      "the board, the players and the status are in view together",
    );
    assert.ok(
      await page.evaluate(
        () => document.documentElement.scrollWidth <= innerWidth,
      ),
      "nothing to scroll sideways",
    );
    assert.deepEqual(await findings(page), []);
  });
}

test("a mate ends the game, and one click opens it on the board", async (t) => {
  const page = await shelf.page(t, {
    path: `site/play.html#fen=${MATE_IN_ONE}`,
  });
  assert.equal(
    await at(page, "fen").inputValue(),
    MATE_IN_ONE.replaceAll("_", " "),
  );
  await at(page, "start").click();
  await touch(page, "a1");
  await touch(page, "a8");
  await reads(page, "status", /^Checkmate\. 1–0$/);
  assert.deepEqual(await findings(page), []);
  await at(page, "analyse").click();
  await reads(page, "moves", /Ra8#/);
  await reads(page, "player-above", /Shelfish/);
  await page.goto(new URL("site/play.html", shelf.server.url).href);
  // The page does not resume a finished game.
  await at(page, "start").waitFor();
});

test("the engine begins with White, and a promotion offers a choice", async (t) => {
  const page = await shelf.page(t, {
    path: "site/play.html#fen=8/8/8/8/8/k7/6p1/4K3_w_-_-_0_1",
  });
  await at(page, "side-black").check();
  await at(page, "level").selectOption({ label: "Beginner, 800" });
  await at(page, "start").click();
  await reads(page, "status", /^1\. K\S+ Your move/);
  // Black is below.
  await touch(page, "g2", false, "black");
  await touch(page, "g1", false, "black");
  const chosen = at(page, "promote-queen");
  if (await chosen.isVisible().catch(() => false)) await chosen.click();
  else await type(page, "Kb3");
  await reads(page, "sheet", /g1=Q|Kb3/);
});

test("the focus moves on when the focused element disappears", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  const focus = () =>
    page.evaluate(() => document.activeElement?.closest("[id]")?.id);
  await at(page, "start").press("Enter");
  await reads(page, "status", /^Your move/);
  assert.equal(await focus(), "flip");
  await type(page, "e4");
  await reads(page, "status", /^1… \S+ Your move/);
  await page.locator("#sheet button").first().press("Enter");
  assert.equal(await focus(), "sheet");
  await at(page, "back").press("Enter");
  await reads(page, "status", /^Your move/);
  assert.equal(await focus(), "flip", "no move is left to take back");
  await at(page, "resign").press("Enter");
  await at(page, "resign").press("Enter");
  await reads(page, "status", /^You resigned/);
  assert.equal(await focus(), "analyse");
  await at(page, "new").press("Enter");
  assert.equal(await focus(), "level");
});

test("moves can be typed, illegal moves are reported, and earlier positions can be shown", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  await type(page, "e5");
  await reads(page, "move-error", /e5 is not legal/);
  await type(page, "Nf3");
  await reads(page, "status", /^1… \S+ Your move/);
  const last = await at(page, "position-text").textContent();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await reads(page, "position-text", /knight b1 g1/);
  // No move is possible in an earlier position.
  await touch(page, "d2");
  await touch(page, "d4");
  assert.equal(await page.locator("#sheet button").count(), 2);
  await page.keyboard.press("End");
  assert.equal(await at(page, "position-text").textContent(), last);
  await at(page, "resign").click();
  await reads(page, "resign", /Really/);
  await at(page, "resign").click();
  await reads(page, "status", /^You resigned\. 0–1$/);
  await at(page, "again").click();
  await reads(page, "status", /^1\. \S+ Your move/);
});

test("the analysis of a game shows the board from the user's side, and names the engine", async (t) => {
  for (const side of ["black", "white"]) {
    const page = await shelf.page(t, { path: "site/play.html" });
    await at(page, `side-${side}`).check();
    await at(page, "start").click();
    await reads(page, "status", /Your move/);
    await type(page, side === "black" ? "a6" : "a3");
    await until(async () => (await page.locator("#sheet button").count()) >= 2);
    await at(page, "resign").click();
    await at(page, "resign").click();
    await at(page, "analyse").click();
    await reads(page, "player-below", /^You/);
    await page.locator(`#board.orientation-${side}`).waitFor();
    const expected =
      side === "black"
        ? /^Shelfish – You, 20\d\d · /
        : /^You – Shelfish, 20\d\d · /;
    await until(
      async () => expected.test(await page.title()),
      () => page.title(),
    );
    assert.match(
      (await at(page, "player-above").textContent()) ?? "",
      /^Shelfish \(Casual player, 1200\)/,
    );
  }
});

test("the confirmation to resign remains when the engine moves", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await at(page, "side-white").check();
  await at(page, "start").click();
  await reads(page, "status", /Your move/);
  await type(page, "a3");
  await at(page, "resign").click();
  await until(async () => (await page.locator("#sheet button").count()) >= 2);
  await reads(page, "status", /Your move/);
  assert.equal(await at(page, "resign").textContent(), "Really resign?");
  await at(page, "resign").click();
  await at(page, "analyse").waitFor();
});

/** Opens a game and holds the engine back, so that it thinks until `release` is called. */
async function held(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ fen,
  context = {},
) {
  const page = await shelf.page(t, {
    allow: /registration blocked by Playwright/,
    context: { serviceWorkers: "block", ...context },
  });
  let release = () => {};
  const isReleased = new Promise(
    (resolve) => (release = () => resolve(undefined)),
  );
  await page.route(/shelfish_engine.*\.wasm/, async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.goto(new URL(`site/play.html#fen=${fen}`, shelf.server.url).href);
  await at(page, "book").uncheck();
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  return { page, release };
}

/** Returns the number of squares that are marked for a premove. */
const premoveSquares = (/** @type {Page} */ page) =>
  page.locator("#board square.current-premove:visible").count();

/** Black has only the move Kh7 after a7. */
const ONLY_REPLY = "7k/5K2/P7/8/8/8/8/8_w_-_-_0_1";

for (const isTouch of [false, true]) {
  test(`a premove with a promotion is played after the engine's move, by ${isTouch ? "touch" : "mouse"}`, async (t) => {
    const { page, release } = await held(
      t,
      ONLY_REPLY,
      isTouch
        ? {
            viewport: { width: 390, height: 844 },
            hasTouch: true,
            isMobile: true,
          }
        : {},
    );
    await type(page, "a7");
    await reads(page, "status", /Shelfish is thinking…$/);
    await touch(page, "a7", isTouch);
    await page
      .locator("#board square.premove-dest")
      .first()
      .waitFor({ state: "attached" });
    await touch(page, "a8", isTouch);
    await at(page, "promote-rook").waitFor();
    assert.deepEqual(await findings(page), []);
    await (isTouch
      ? at(page, "promote-rook").tap()
      : at(page, "promote-rook").click());
    await reads(page, "status", /Shelfish is thinking… Premove: a8=R\.$/);
    await equals(() => premoveSquares(page), 2);
    release();
    await reads(page, "sheet", /^1\.a7Kh72\.a8=R/);
  });
}

test("a premove can be typed, and is cancelled if it is not legal after the engine's move", async (t) => {
  const { page, release } = await held(t, ONLY_REPLY);
  await type(page, "a7");
  await type(page, "Nf3");
  await reads(
    page,
    "move-error",
    /^It is not your move, and Nf3 cannot be a premove$/,
  );
  await type(page, "a8=Q");
  await reads(page, "status", /Premove: a8=Q\.$/);
  await page.keyboard.press("Escape");
  await reads(page, "status", /thinking…$/);
  await equals(() => premoveSquares(page), 0);
  await type(page, "f7g8");
  await reads(page, "status", /Premove: f7–g8\.$/);
  await equals(() => premoveSquares(page), 2);
  release();
  await reads(
    page,
    "status",
    /^1… Kh7 Your move\. The premove f7–g8 is not legal\.$/,
  );
  await equals(() => premoveSquares(page), 0);
  assert.equal(await page.locator("#sheet button").count(), 2);
});

/** Opens a game that was left after these moves, with the user to move as White. */
async function left(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string | undefined} */ fen,
  /** @type {string} */ moves,
  settings = {},
  context = {},
) {
  const page = await shelf.page(t, {
    path: "site/play.html",
    allow: /registration blocked by Playwright/,
    context,
  });
  await page.evaluate(
    ({ game, settings }) => {
      localStorage.setItem("play", game);
      localStorage.setItem("settings", settings);
    },
    {
      game: JSON.stringify({
        terms: { side: "white", elo: 1200, fen, book: false },
        moves: moves.split(" "),
      }),
      settings: JSON.stringify(settings),
    },
  );
  await page.reload();
  await reads(page, "status", /Your move\.$/);
  return page;
}

async function offerDraw(/** @type {Page} */ page) {
  await at(page, "draw").click();
  await reads(page, "draw", /^Really offer\?$/);
  await at(page, "draw").click();
}

test("the engine agrees to a draw if its last positions were not better", async (t) => {
  const page = await left(
    t,
    "4k3/8/8/8/8/8/8/3QK3 w - - 0 30",
    "e1f1 e8e7 f1g1 e7e8 g1h1 e8e7",
  );
  await offerDraw(page);
  await reads(page, "status", /^Draw by agreement\. ½–½$/);
  await reads(page, "verdict", /^A drawDraw by agreement after 3 moves\./);
  const pgn = decodeURIComponent(
    (await at(page, "analyse").getAttribute("href")) ?? "",
  );
  assert.match(pgn, /\[Result "1\/2-1\/2"\]/);
  assert.match(pgn, /\[Termination "Draw by agreement"\]/);
  assert.deepEqual(await findings(page), []);
});

test("the engine declines a draw if its position is better, and the next offer has to wait", async (t) => {
  const page = await left(
    t,
    "3qk3/8/8/8/8/8/P7/7K w - - 0 30",
    "h1g1 e8e7 g1h1 e7e8 h1g1 e8e7",
  );
  await offerDraw(page);
  await reads(
    page,
    "status",
    /^Shelfish declines the draw: it prefers its position\.$/,
  );
  assert.ok(await at(page, "draw").isDisabled());
  assert.match(
    (await at(page, "draw").getAttribute("title")) ?? "",
    /10 moves/,
  );
  assert.equal(await page.evaluate(() => document.activeElement?.id), "flip");
  await page.reload();
  await reads(page, "status", /Your move\.$/);
  assert.ok(await at(page, "draw").isDisabled());
});

test("the engine declines a draw early in the game, and a press on another button withdraws the question", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  await at(page, "draw").click();
  await at(page, "flip").click();
  await reads(page, "draw", /^Offer a draw$/);
  await offerDraw(page);
  await reads(
    page,
    "status",
    /^Shelfish declines the draw: it agrees to no draw before move 20\.$/,
  );
  await type(page, "e4");
  await reads(page, "status", /^1… \S+ Your move/);
});

test("a game has own times, which survive a reload", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  assert.ok(await at(page, "minutes").isHidden());
  await at(page, "side-white").check();
  await at(page, "control").selectOption({ label: "Own times…" });
  await at(page, "minutes").fill("500");
  await at(page, "start").click();
  // The browser names the limit, and no game begins.
  assert.equal(
    await at(page, "minutes").evaluate(
      (field) =>
        field instanceof HTMLInputElement && field.validity.rangeOverflow,
    ),
    true,
  );
  assert.ok(await at(page, "start").isVisible());
  await at(page, "minutes").fill("7.5");
  await at(page, "increment").fill("4");
  await at(page, "start").click();
  await reads(page, "below", /7:30/);
  await type(page, "a3");
  await until(async () => (await page.locator("#sheet button").count()) >= 2);
  await page.reload();
  await reads(page, "below", /7:\d\d/);
  await at(page, "resign").click();
  await at(page, "resign").click();
  await at(page, "analyse").waitFor();
  assert.match(
    decodeURIComponent((await at(page, "analyse").getAttribute("href")) ?? ""),
    /\[TimeControl "450\+4"\]/,
  );
});

test("the strips show the material advantage of a side", async (t) => {
  const page = await shelf.page(t, {
    path: "site/play.html#fen=6k1/5ppp/8/8/8/8/5PPP/R5K1_b_-_-_0_1",
  });
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  assert.equal(await at(page, "above").locator(".material").innerText(), "♜+5");
  assert.equal(
    await at(page, "above").getByRole("img").getAttribute("aria-label"),
    "1 rook more",
  );
  assert.ok(await at(page, "below").locator(".material").isHidden());
});

test("from a position with Black to move the user has Black, unless another colour was chosen", async (t) => {
  const page = await shelf.page(t, {
    path: "site/play.html#fen=6k1/5ppp/8/8/8/8/5PPP/R5K1_b_-_-_0_1",
  });
  assert.ok(await at(page, "side-black").isChecked());
  await at(page, "fen").fill("");
  assert.ok(await at(page, "side-white").isChecked());
  await at(page, "fen").fill("6k1/5ppp/8/8/8/8/5PPP/R5K1 b - - 0 1");
  assert.ok(await at(page, "side-black").isChecked());
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  await page.locator("#board.orientation-black").waitFor();
  await at(page, "resign").click();
  await at(page, "resign").click();
  await at(page, "new").click();
  await at(page, "side-any").check();
  await at(page, "fen").fill("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
  assert.ok(await at(page, "side-any").isChecked());
});

for (const [end, { fen, side, move, expected }] of Object.entries({
  "a win": {
    fen: MATE_IN_ONE,
    side: "white",
    move: "Ra8",
    expected:
      /^You wonCheckmate after 1 move\. You had White against Shelfish \(Casual player, 1200\)\.$/,
  },
  "a draw": {
    fen: "7k/8/5K2/6Q1/8/8/8/8_w_-_-_0_1",
    side: "white",
    move: "Qg6",
    expected: /^A drawStalemate after 1 move\. You had White/,
  },
  "a loss": {
    fen: "6k1/5ppp/8/8/8/8/5PPP/R5K1_b_-_-_0_1",
    side: "black",
    move: undefined,
    expected: /^You lostYou resigned after 0 moves\. You had Black/,
  },
})) {
  test(`the end of a game has a verdict: ${end}`, async (t) => {
    const page = await shelf.page(t, { path: `site/play.html#fen=${fen}` });
    await at(page, `side-${side}`).check();
    await at(page, "start").click();
    await reads(page, "status", /^Your move/);
    assert.ok(await at(page, "verdict").isHidden());
    if (move) await type(page, move);
    else for (const _ of [1, 2]) await at(page, "resign").click();
    await reads(page, "verdict", expected);
    assert.ok(await at(page, "verdict").isVisible());
    assert.deepEqual(await findings(page), []);
  });
}

for (const { name, context } of [
  { name: "a desk", context: { viewport: { width: 1366, height: 768 } } },
  {
    name: "a phone",
    context: {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      colorScheme: /** @type {const} */ ("dark"),
    },
  },
]) {
  test(`the end of a game shows the moves that lost most, with the better moves, on ${name}`, async (t) => {
    const page = await left(
      t,
      undefined,
      "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6",
      { nodes: 20_000 },
      context,
    );
    await type(page, "Qxf7");
    await reads(page, "verdict", /^You won/);
    await reads(page, "moments-status", /^Looking for/);
    await reads(
      page,
      "moments-status",
      /^The moves that lost most of the winning chances\. Evaluations: .*\d+ (from the database|by the engine)/,
    );
    const moments = await at(page, "moment").allTextContents();
    assert.ok(moments.length >= 1 && moments.length <= 3, moments.join());
    const blunder = at(page, "moment").filter({
      hasText:
        /^3… Nf6 the engine’s blunder: [4-9]\d % of the winning chances$/,
    });
    await (name === "a phone" ? blunder.tap() : blunder.press("Enter"));
    await reads(
      page,
      "status",
      /^3… Nf6 \(red\) lost \d+ % of the winning chances\. Better: 3… (g6|Qe7|Qf6) \(green\)\.$/,
    );
    assert.equal(await blunder.getAttribute("aria-pressed"), "true");
    assert.match(
      (await at(page, "position-text").textContent()) ?? "",
      /Black: .*knight c6 g8/,
    );
    await equals(() => page.locator("#board .cg-shapes line").count(), 2);
    assert.deepEqual(await findings(page), []);
    assert.ok(
      await page.evaluate(
        () => document.documentElement.scrollWidth <= innerWidth,
      ),
      "nothing to scroll sideways",
    );
    await page.keyboard.press("End");
    await equals(() => page.locator("#board .cg-shapes line").count(), 0);
    await at(page, "analyse").click();
    await reads(page, "moves", /Qxf7#/);
  });
}

test("another game ends the analysis of the last game", async (t) => {
  const page = await left(
    t,
    undefined,
    "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6",
    {},
    { serviceWorkers: "block" },
  );
  /** @type {import("playwright-core").Route[]} */
  const held = [];
  const parts = /shelfish_engine.*\.wasm|assets\/analysis-.*\.js/;
  await page.route(parts, (route) => void held.push(route));
  // The engine of the analysis also waits for its module.
  await page.reload();
  await type(page, "Qxf7");
  await reads(page, "moments-status", /^Looking for/);
  await until(
    () => held.some((route) => /analysis/.test(route.request().url())),
    "the analysis is loading",
  );
  await at(page, "new").click();
  await page.unroute(parts);
  for (const route of held) await route.continue().catch(() => {});
  await at(page, "start").click();
  await type(page, "e4");
  await reads(page, "status", /Your move/);
  assert.ok(await at(page, "moments").isHidden());
  assert.equal(await at(page, "moment").count(), 0);
});

test("a game continues after a reload", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await at(page, "control").selectOption({ label: "3 + 2" });
  await at(page, "start").click();
  await type(page, "d4");
  await reads(page, "status", /^1… \S+ Your move/);
  const moves = await at(page, "sheet").textContent();
  await page.reload();
  await reads(page, "status", /^1… \S+ Your move/);
  assert.equal(await at(page, "sheet").textContent(), moves);
  assert.match(
    (await at(page, "below").textContent()) ?? "",
    /^You\s*(3:0\d|2:5\d)$/,
  );
});

test("a player who runs out of time loses", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await page.clock.install();
  await page.reload();
  await at(page, "control").selectOption({ label: "1 + 0" });
  await at(page, "start").click();
  await type(page, "e4");
  await page.clock.runFor(1_000);
  await reads(page, "status", /^1… \S+ Your move/);
  await page.clock.runFor(62_000);
  await reads(page, "status", /^You ran out of time\. 0–1$/);
  // The clock still ticks. It redraws nothing, so that steps back work and the focus stays.
  await page.locator("#sheet button").first().focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  const first = await at(page, "position-text").textContent();
  await at(page, "again").focus();
  await page.evaluate(() => {
    new MutationObserver(() => (document.body.dataset.redrawn = "")).observe(
      document.querySelector("#sheet") ?? document.body,
      { childList: true },
    );
  });
  await page.clock.runFor(1_000);
  assert.equal(await at(page, "position-text").textContent(), first);
  assert.equal(
    await page.evaluate(() => document.body.dataset.redrawn),
    undefined,
  );
  assert.equal(await page.evaluate(() => document.activeElement?.id), "again");
});

test("a wrong FEN and a failed load of the engine are reported, and a button tries again", async (t) => {
  const page = await shelf.page(t, {
    path: "site/play.html#fen=8/8/8/8/8/8/8/8_w_-_-_0_1",
    allow: /Failed to load|ERR_FAILED|registration blocked by Playwright/,
    context: { serviceWorkers: "block" },
  });
  await reads(page, "fen-error", /board is empty/);
  await at(page, "start").click();
  assert.ok(await at(page, "setup").isVisible(), "no game was started");
  await at(page, "fen").fill("");
  await reads(page, "fen-error", /^$/);
  await page.route(/shelfish_engine.*\.wasm/, (route) => route.abort());
  await at(page, "start").click();
  await reads(page, "error", /could not be loaded: .+Try again/);
  await page.unroute(/shelfish_engine.*\.wasm/);
  await at(page, "retry").click();
  await type(page, "e4");
  await reads(page, "status", /^1… \S+ Your move/);
});

test("after one visit, the page also works offline", async (t) => {
  const page = await shelf.page(t, {
    path: "site/play.html",
    allow: /ERR_INTERNET_DISCONNECTED/,
  });
  await until(() =>
    page.evaluate(
      () => navigator.serviceWorker.controller?.state === "activated",
    ),
  );
  await page.context().setOffline(true);
  await page.reload();
  await at(page, "start").click();
  await type(page, "c4");
  await reads(page, "status", /^1… \S+ Your move/);
});

test("the board links to a game from its position", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=5",
  });
  await until(() =>
    page.evaluate(() =>
      document.querySelector("#facts")?.textContent?.startsWith("Depth"),
    ),
  );
  const href = (await page.locator("#play").getAttribute("href")) ?? "";
  assert.match(
    href,
    /^\.\/play\.html#fen=rn1qkbnr\/ppp2ppp\/3p4\/4p3\/3PP1b1\/5N2\/PPP2PPP\/RNBQKB1R_b|^\.\/play\.html#fen=[^ ]+_b_/,
  );
  await page.goto(new URL(href, page.url()).href);
  assert.equal(
    await at(page, "fen").inputValue(),
    href.slice(href.indexOf("=") + 1).replaceAll("_", " "),
  );
});

test("the engine plays from the book of the site, and learns from the result", async (t) => {
  const pgn = join(shelf.root, "odd.pgn");
  // No search would choose these moves.
  writeFileSync(pgn, "1. a3 h5 2. b3 Rh6 1-0\n");
  execFileSync(
    SHELFISH,
    ["book", "build", "--quiet", pgn, "-o", join(shelf.root, "odd")],
    { stdio: "pipe" },
  );
  const page = await shelf.page(t, {
    path: "site/play.html?book=../odd/manifest.json",
  });
  await at(page, "start").click();
  await type(page, "a3");
  await reads(page, "status", /^1… h5 Your move \(book\)\.$/);
  await type(page, "b3");
  await reads(page, "status", /^2… Rh6 Your move \(book\)\.$/);
  await type(page, "c3");
  await reads(page, "status", /^3… \S+ (Check\. )?Your move\.$/);
  await at(page, "resign").click();
  await at(page, "resign").click();
  await reads(page, "status", /^You resigned/);
  const learned = () =>
    page.evaluate(async () => {
      const done = (/** @type {IDBRequest} */ request) =>
        new Promise(
          (resolve) => (request.onsuccess = () => resolve(request.result)),
        );
      const database = await done(indexedDB.open("shelfish-own-book"));
      const rows = database.objectStoreNames.contains("moves")
        ? await done(
            database.transaction("moves").objectStore("moves").getAll(),
          )
        : [];
      database.close();
      return rows
        .map(
          (/** @type {any} */ { uci, frequency, wins, losses }) =>
            `${uci} ${frequency} ${wins} ${losses}`,
        )
        .sort();
    });
  const rows = await until(async () => {
    const rows = await learned();
    return rows.length === 6 && rows;
  }, "six moves are learned");
  for (const row of ["a2a3 1 0 1", "h7h5 1 1 0", "b2b3 1 0 1", "h8h6 1 1 0"])
    assert.ok(rows.includes(row), `${row}: ${rows.join()}`);
});
