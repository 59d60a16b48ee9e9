// The games that the board stores in IndexedDB.
import { until } from "./until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Waits until the store of games has a text that matches. */
export const stores = (
  /** @type {Page} */ page,
  /** @type {RegExp} */ pattern,
) =>
  until(async () => {
    const texts = await page.evaluate(async () => {
      const done = (/** @type {IDBRequest} */ request) =>
        new Promise(
          (resolve) => (request.onsuccess = () => resolve(request.result)),
        );
      const database = await done(indexedDB.open("shelfish-games"));
      const texts = database.objectStoreNames.contains("texts")
        ? await done(
            database.transaction("texts").objectStore("texts").getAll(),
          )
        : [];
      database.close();
      return texts;
    });
    return texts.some((/** @type {string} */ text) => pattern.test(text));
  }, `the store has ${pattern}`);
