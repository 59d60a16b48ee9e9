// The analysis board in Firefox, at the size of a phone and of a desk: real clicks and keys, an unbroken layout.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { suiteIn } from "./support/engines.mjs";
import { shelf } from "./support/lab.mjs";
import { readsIn, until } from "./support/until.mjs";

/** @type {Awaited<ReturnType<typeof shelf>>} */
let ground;
before(async () => void (ground = await shelf()));
after(() => ground.close());

const SIZES = [
  { name: "a phone", width: 390, height: 844 },
  { name: "a desk", width: 1366, height: 768 },
];

suiteIn(["Firefox"], (session) => {
  const find = (/** @type {string} */ id) =>
    session.driver.findElement(By.css(`[data-testid=${id}]`));
  const reads = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
    readsIn(session.driver, id, pattern);
  /** Runs a function in the page, as a script of the driver, because the page's policy forbids script elements. */
  const evaluate = (/** @type {() => any} */ body) =>
    session.driver.executeScript(`return (${body})();`);
  const press = (/** @type {string[]} */ ...keys) =>
    session.driver
      .actions()
      .sendKeys(...keys)
      .perform();

  for (const { name, width, height } of SIZES) {
    test(`a game is opened and stepped through, and a typed move leaves the game, on ${name}`, async () => {
      // The window is larger than the page by the borders and bars of Firefox.
      await session.driver.get("about:blank");
      await session.driver.manage().window().setRect({ width, height });
      const inner = /** @type {{ width: number, height: number }} */ (
        await evaluate(() => ({ width: innerWidth, height: innerHeight }))
      );
      await session.driver
        .manage()
        .window()
        .setRect({
          width: 2 * width - inner.width,
          height: 2 * height - inner.height,
        });
      await ground.server.requests();
      await session.driver.get(
        `${ground.server.url}site/?${width}#game=morphy-isouard-1858`,
      );
      await evaluate(() =>
        addEventListener(
          "error",
          ({ message }) => (document.documentElement.dataset.error = message),
        ),
      );
      await reads("coverage", /^\d+ of 34 positions known/);
      const asked = (await ground.server.requests()).filter(({ path }) =>
        path.startsWith("/site/db/"),
      );
      assert.equal(
        asked.filter(({ path }) => path.endsWith("manifest.json")).length,
        1,
        "the manifest is requested once",
      );
      await reads("facts", /^Depth \d+/);
      await find("next").click();
      await reads("position-text", /pawn a2 b2 c2 d2 f2 g2 h2 e4|pawn .*e4/);
      await press(Key.ARROW_RIGHT, Key.ARROW_RIGHT);
      assert.equal(
        await session.driver
          .findElement(By.css("#moves [aria-current] .san"))
          .getAttribute("textContent"),
        "Nf3",
      );
      await press(Key.END);
      await reads("score", /^1-0$/);
      await press(Key.HOME);
      await reads("facts", /^Depth/);
      const outside = await evaluate(() =>
        [
          "#player-above",
          "#board",
          "#player-below",
          "#score",
          "#graph",
          "#moves",
          "#next",
        ]
          .filter((name) => {
            const box = document.querySelector(name)?.getBoundingClientRect();
            return (
              !box ||
              box.height < 4 ||
              box.left < 0 ||
              box.top < 0 ||
              box.right > innerWidth + 0.5 ||
              box.bottom > innerHeight + 0.5
            );
          })
          .map(
            (name) =>
              `${name} ${JSON.stringify(document.querySelector(name)?.getBoundingClientRect())} of ${innerWidth} × ${innerHeight}, scrolled ${scrollY}`,
          ),
      );
      assert.deepEqual(outside, []);
      await find("help")
        .isDisplayed()
        .then((shown) => (shown ? find("help").click() : press("?")));
      await until(() => find("help-dialog").isDisplayed());
      await press(Key.ESCAPE);
      await find("move-input").sendKeys("e5", Key.ENTER);
      await reads("move-error", /e5 is not legal/);
      await find("move-input").clear();
      await find("move-input").sendKeys("d4", Key.ENTER);
      await reads("moves", /d4/);
      assert.equal(
        await evaluate(() => document.documentElement.dataset.error ?? null),
        null,
      );
    });
  }
});
