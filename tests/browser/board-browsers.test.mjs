// The analysis board in Firefox and WebKit: real clicks and keys.
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

suiteIn(["Firefox", "WebKit"], (session) => {
  test("a game is opened and stepped through, and a typed move leaves the game", async () => {
    const { driver } = session;
    const find = (/** @type {string} */ id) =>
      driver.findElement(By.css(`[data-testid=${id}]`));
    const reads = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
      readsIn(driver, id, pattern);
    await ground.server.requests();
    await driver.get(`${ground.server.url}site/#game=morphy-isouard-1858`);
    await driver.executeScript(
      'addEventListener("error", ({ message }) => (document.documentElement.dataset.error = message));',
    );
    await reads("coverage", /^\d+ of 34 positions known/);
    const requests = await ground.server.requests();
    assert.equal(
      requests.filter(({ path }) => path === "/site/db/manifest.json").length,
      1,
      "the manifest is requested once",
    );
    await reads("facts", /^Depth \d+/);
    await find("next").click();
    await reads("position-text", /pawn .*e4/);
    await driver.actions().sendKeys(Key.END).perform();
    await reads("score", /^1-0$/);
    await driver.actions().sendKeys(Key.HOME).perform();
    await reads("facts", /^Depth/);
    await find("move-input").sendKeys("e5", Key.ENTER);
    await reads("move-error", /e5 is not legal/);
    await find("move-input").clear();
    await find("move-input").sendKeys("d4", Key.ENTER);
    await reads("moves", /d4/);
    assert.equal(
      await driver.executeScript(
        "return document.documentElement.dataset.error ?? null",
      ),
      null,
    );
  });
});
