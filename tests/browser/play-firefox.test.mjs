// The page to play on in Firefox: a move by real clicks, and the engine's answer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { suiteIn } from "./support/engines.mjs";
import { shelf } from "./support/lab.mjs";
import { readsIn } from "./support/until.mjs";

/** @type {Awaited<ReturnType<typeof shelf>>} */
let ground;
before(async () => void (ground = await shelf()));
after(() => ground.close());

suiteIn(["Firefox"], (session) => {
  test("a game is played by clicks and keys", async () => {
    const { driver } = session;
    const find = (/** @type {string} */ id) =>
      driver.findElement(By.css(`[data-testid=${id}]`));
    const reads = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
      readsIn(driver, id, pattern);
    await driver.get(`${ground.server.url}site/play.html`);
    await driver.executeScript(
      'addEventListener("error", ({ message }) => (document.documentElement.dataset.error = message));',
    );
    await find("start").click();
    await reads("status", /^Your move/);
    const board = await driver.findElement(By.css("#board cg-board"));
    const { width } = await board.getRect();
    // Offsets are from the centre of the board.
    for (const [file, rank] of /** @type {const} */ ([
      [4, 1],
      [4, 3],
    ])) {
      const [x, y] = [
        (file - 3.5) * (width / 8),
        (3.5 - rank) * (width / 8),
      ].map(Math.round);
      await driver
        .actions()
        .move({ origin: board, x: Number(x), y: Number(y) })
        .click()
        .perform();
    }
    await reads("status", /^1… \S+ Your move/);
    await find("move-input").sendKeys("d3", Key.ENTER);
    await reads("status", /^2… \S+ Your move/);
    assert.equal(
      await driver.executeScript(
        "return document.documentElement.dataset.error ?? null",
      ),
      null,
    );
  });
});
