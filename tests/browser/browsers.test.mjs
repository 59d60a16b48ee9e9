// The package, the elements and the board in Firefox and WebKit: one walk each.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { START } from "./support/chromium.mjs";
import { ENGINES, evaluate } from "./support/engines.mjs";
import { BLANK } from "./support/fixtures.mjs";
import { DUMPS } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, plain, truth } from "./support/truth.mjs";
import { readsIn, until } from "./support/until.mjs";

writeFileSync(
  join(shelf.root, "element.html"),
  `${BLANK}<script type="module" src="pkg/elements.js"></script><body><shelfish-game database="db/">1. e4 e5 2. Nf3</shelfish-game>`,
);
const known = truth(...DUMPS).get(START) ?? [];

for (const { name, missing, launch } of ENGINES) {
  const skip =
    missing.length > 0 &&
    `NOT TESTED in ${name}: ${missing.join(", ")} not found`;
  if (skip) console.error(skip);
  test(
    `in ${name}, positions have the answers of the dumps, also from IndexedDB after a reload, and the element and the board show a game`,
    { skip },
    async (t) => {
      const { driver, close } = await launch();
      t.after(close);
      /** Opens the database on the blank page. Returns its evaluations of the starting position, and the requests. */
      const ask = async () => {
        await driver.get(shelf.server.url);
        await shelf.server.requests();
        const evaluations = await evaluate(
          driver,
          async (entry, fen) => {
            const { openDatabase } = await import(entry);
            const database = await openDatabase("db/manifest.json");
            const answer = await database.lookup(fen, { castling: "chess960" });
            database.close();
            return answer.evaluations;
          },
          shelf.entry,
          START,
        );
        assert.deepEqual(
          evaluations.map(plain).sort(),
          known.map(plain).sort(),
        );
        return (await shelf.server.requests())
          .filter(({ path }) => path.startsWith("/db/"))
          .map(({ path, range }) => range ?? path);
      };
      assert.equal((await ask()).length, 2);
      // No event reports that IndexedDB has stored a block.
      await until(async () => (await ask()).join() === "/db/manifest.json");

      await driver.get(shelf.url("element.html"));
      const facts = `Depth ${best(known)?.depth}`;
      await until(() =>
        evaluate(
          driver,
          (facts) =>
            document
              .querySelector("shelfish-game")
              ?.shadowRoot?.querySelector(".facts")?.textContent === facts,
          facts,
        ),
      );

      const find = (/** @type {string} */ id) =>
        driver.findElement(By.css(`[data-testid=${id}]`));
      const reads = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
        readsIn(driver, id, pattern);
      await driver.get(shelf.url("site/#game=morphy-isouard-1858"));
      await driver.executeScript(
        'addEventListener("error", ({ message }) => (document.documentElement.dataset.error = message));',
      );
      await reads("graph", /White better/);
      await reads("facts", /^Depth \d+/);
      await find("next").click();
      await reads("position-text", /pawn .*e4/);
      await driver.actions().sendKeys(Key.END).perform();
      await reads("score", /^1-0$/);
      await driver.actions().sendKeys(Key.HOME).perform();
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
    },
  );
}
