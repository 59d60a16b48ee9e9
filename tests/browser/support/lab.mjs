// The server, the databases and the browser of a browser test.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { serverRoot } from "./fixtures.mjs";
import { CHROMIUM, entry } from "./paths.mjs";
import { serve } from "./serve.mjs";
import { withLimit, until } from "./until.mjs";

/** @typedef {import("playwright-core").Page & { console: string[] }} Page */

export const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/**
 * Starts a server for a browser test. Its root folder is `serverRoot()`, which no test may change.
 * @param {{ own?: boolean, serve?: string[] }} options a copy of the folder that the test may change, and options of the server
 */
export async function shelf({ own = false, serve: options = [] } = {}) {
  const root = own
    ? mkdtempSync(join(tmpdir(), "shelfish-browser-"))
    : serverRoot();
  if (own) cpSync(serverRoot(), root, { recursive: true });
  const server = await serve(root, ...options);
  return {
    root,
    server,
    entry: `/pkg/${entry()}`,

    async close() {
      await server.close();
      if (own) rmSync(root, { recursive: true, force: true });
    },
  };
}

/**
 * Starts the same server and a Chromium.
 * @param {Parameters<typeof shelf>[0]} options
 */
export async function lab(options = {}) {
  const ground = await shelf(options);
  const { server } = ground;
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: FLAGS,
  });

  return {
    ...ground,
    browser,

    /**
     * Opens a page in a new browser context, by default the blank page. There the global `shelfish` is the module. Closes the page
     * after the test, which fails if a line in the console does not match `allow`.
     * @param {import("node:test").TestContext} test
     * @param {{ path?: string, allow?: RegExp, before?: () => void, context?: import("playwright-core").BrowserContextOptions }} options
     * @returns {Promise<Page>}
     */
    async page(
      test,
      { path = "", allow, before, context: contextOptions } = {},
    ) {
      const context = withLimit(await browser.newContext(contextOptions));
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
      await page.goto(new URL(path, server.url).href);
      if (path === "") await this.load(page);
      await server.requests();
      return page;
    },

    /**
     * Imports the module into a page.
     * @param {import("playwright-core").Page} page
     */
    async load(page) {
      await page.evaluate(async (entry) => {
        Object.assign(globalThis, { shelfish: await import(entry) });
      }, this.entry);
    },

    async close() {
      await browser.close();
      await ground.close();
    },
  };
}

/**
 * Records all lines in the console of the page and of its workers.
 * @param {Page} page
 */
export function watch(page) {
  page.console = [];
  page.on("console", (message) =>
    page.console.push(`${message.type()}: ${message.text()}`),
  );
  page.on("pageerror", (error) =>
    page.console.push(`uncaught: ${error.message}`),
  );
}

/** Runs in a page. Returns the number of entries in IndexedDB: the manifest, pages that are not inline, and blocks. */
export async function entries() {
  const done = (/** @type {IDBRequest} */ request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  let sum = 0;
  for (const { name } of await indexedDB.databases()) {
    const connection = await done(indexedDB.open(String(name)));
    const isReady = connection.objectStoreNames.contains("entries");
    if (isReady)
      sum += await done(
        connection.transaction("entries").objectStore("entries").count(),
      );
    connection.close();
  }
  return sum;
}

/**
 * Waits until IndexedDB has this number of entries. Lookups do not wait for these writes.
 * @param {import("playwright-core").Page} page
 * @param {number} count
 */
export async function kept(page, count) {
  await until(
    async () => (await page.evaluate(entries)) >= count,
    `IndexedDB has ${count} entries`,
  );
}
