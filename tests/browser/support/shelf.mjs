// The server and the browser of a file of tests.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { launch, watch } from "./chromium.mjs";
import { serverRoot } from "./fixtures.mjs";
import { entry as file } from "./paths.mjs";
import { serve } from "./serve.mjs";
import { withLimit, until } from "./until.mjs";

/** @typedef {import("./chromium.mjs").Page} Page */

/** The root folder of the server: a copy of `serverRoot()`, which tests may change. */
export const root = mkdtempSync(join(tmpdir(), "shelfish-browser-"));
cpSync(serverRoot(), root, { recursive: true });
export const server = await serve(root);
export const entry = `/pkg/${file()}`;

/** @type {ReturnType<typeof launch> | undefined} */
let launched;
/** Returns the browser, which is started once. */
export const browser = () => (launched ??= launch());
after(async () => {
  await (await launched)?.close();
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

/** Returns the URL of a path of the server. */
export const url = (/** @type {string} */ path) =>
  new URL(path, server.url).href;

/**
 * Opens a page in a new browser context, by default the blank page. There the global `shelfish` is the module. Closes the page after
 * the test, which fails if a line in the console does not match `allow`.
 * @param {import("node:test").TestContext} test
 * @param {{ path?: string, allow?: RegExp, before?: () => void, context?: import("playwright-core").BrowserContextOptions }} options
 * @returns {Promise<Page>}
 */
export async function page(
  test,
  { path = "", allow, before, context: contextOptions } = {},
) {
  // Wide enough for all panels of the board.
  const context = withLimit(
    await (
      await browser()
    ).newContext({ viewport: { width: 1366, height: 768 }, ...contextOptions }),
  );
  const page = /** @type {Page} */ (await context.newPage());
  watch(page);
  if (before) await page.addInitScript(before);
  test.after(async () => {
    await context.close();
    assert.deepEqual(
      page.console.filter((line) => !allow?.test(line)),
      [],
      "the console is empty",
    );
  });
  await page.goto(url(path));
  if (path === "") await load(page);
  await server.requests();
  return page;
}

/**
 * Imports the module into a page.
 * @param {import("playwright-core").Page} page
 */
export async function load(page) {
  await page.evaluate(async (entry) => {
    Object.assign(globalThis, { shelfish: await import(entry) });
  }, entry);
}

/** Runs in a page. Returns all values in IndexedDB of the stores of this name, or of all stores. */
export async function stored(name = "") {
  const done = (/** @type {IDBRequest} */ request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const values = [];
  for (const { name: database } of await indexedDB.databases()) {
    const connection = await done(indexedDB.open(String(database)));
    for (const store of connection.objectStoreNames)
      if (store === name || name === "")
        values.push(
          ...(await done(
            connection.transaction(store).objectStore(store).getAll(),
          )),
        );
    connection.close();
  }
  return values;
}

/**
 * Waits until IndexedDB has this number of entries: the manifest, pages that are not inline, and blocks. Lookups do not wait for
 * these writes.
 * @param {import("playwright-core").Page} page
 * @param {number} count
 */
export async function kept(page, count) {
  await until(
    async () => (await page.evaluate(stored, "entries")).length >= count,
    `IndexedDB has ${count} entries`,
  );
}
