// The page to play on: real clicks, taps and keys against the engine, at the size of a phone and of a desk.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";
import { at, square } from "./support/page.mjs";
import { recordShifts, shifts } from "./support/shifts.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

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
  await page.goto(shelf.url("site/play.html"));
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

test("moves can be typed, illegal moves are reported, the game continues after a reload, and earlier positions can be shown", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  await at(page, "start").click();
  await reads(page, "status", /^Your move/);
  await type(page, "e5");
  await reads(page, "move-error", /e5 is not legal/);
  await type(page, "Nf3");
  await reads(page, "status", /^1… \S+ Your move/);
  const last = await at(page, "position-text").textContent();
  await page.reload();
  await reads(page, "status", /^1… \S+ Your move/);
  assert.equal(await at(page, "position-text").textContent(), last);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await reads(page, "position-text", /knight b1 g1/);
  // No move is possible in an earlier position.
  await touch(page, "d2");
  await touch(page, "d4");
  assert.equal(await page.locator("#sheet button").count(), 2);
  // The number of a row shows its first move.
  await page.locator("#sheet li > span").first().click();
  await reads(page, "position-text", /knights? b1 f3/);
  await page.keyboard.press("End");
  assert.equal(await at(page, "position-text").textContent(), last);
  await at(page, "resign").click();
  await reads(page, "resign", /Really/);
  await at(page, "resign").click();
  await reads(page, "status", /^You resigned\. 0–1$/);
  await at(page, "again").click();
  await reads(page, "status", /^1\. \S+ Your move/);
});

test("a move while the engine thinks is a premove, which is played after the engine's move", async (t) => {
  const page = await shelf.page(t, {
    allow: /registration blocked by Playwright/,
    context: { serviceWorkers: "block" },
  });
  /** @type {(value?: unknown) => void} */
  let release = () => {};
  const isReleased = new Promise((resolve) => (release = resolve));
  await page.route(/shelfish_engine.*\.wasm/, async (route) => {
    await isReleased;
    await route.continue();
  });
  // Black has only the move Kh7 after a7.
  const fen = "7k/5K2/P7/8/8/8/8/8_w_-_-_0_1";
  await page.goto(shelf.url(`site/play.html#fen=${fen}`));
  await at(page, "start").click();
  await type(page, "a7");
  await reads(page, "status", /Shelfish is thinking…$/);
  await touch(page, "f7");
  await touch(page, "f8");
  await equals(
    () => page.locator("#board square.current-premove:visible").count(),
    2,
  );
  release();
  await reads(page, "sheet", /^1\.a7Kh72\.Kf8/);
});

test("the engine agrees to a draw if its position is not better", async (t) => {
  const page = await shelf.page(t, { path: "site/play.html" });
  const offer = async (/** @type {string} */ fen) => {
    await page.goto(shelf.url(`site/play.html#fen=${fen}`));
    await page.evaluate(() => localStorage.removeItem("play"));
    await page.reload();
    await at(page, "start").click();
    await reads(page, "status", /^Your move/);
    await at(page, "draw").click();
    await reads(page, "draw", /^Really offer\?$/);
    await at(page, "draw").click();
  };
  await offer("q3k3/8/8/8/8/8/8/4K3_w_-_-_0_30");
  await reads(page, "status", /^Shelfish declines the draw\.$/);
  await offer("4k3/8/8/8/8/8/8/3QK3_w_-_-_0_30");
  await reads(page, "status", /^Draw by agreement\. ½–½$/);
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
