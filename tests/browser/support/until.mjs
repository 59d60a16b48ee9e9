// Waiting for conditions. Every browser test waits by this helper, never for a fixed time.
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds after which a test fails. A machine that does other work may need many times the usual time. */
export const LIMIT = 120_000;

/**
 * Waits until a condition holds, and returns its value. A condition may throw before it holds, for example if the page is loading
 * or an element does not exist yet.
 * @template T
 * @param {() => T | Promise<T>} condition
 * @param {string | (() => unknown)} what the condition, for the message of the failure
 * @returns {Promise<T>}
 */
export async function until(condition, what = String(condition)) {
  const end = Date.now() + LIMIT;
  for (;;) {
    /** @type {unknown} */
    let last;
    try {
      const value = await condition();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(
        `not within ${LIMIT / 1000} s: ${typeof what === "string" ? what : await what()} (last: ${last})`,
      );
    await sleep(25);
  }
}

/**
 * Waits until a value is the expected one.
 * @template T
 * @param {() => Promise<T>} read
 * @param {T} expected
 */
export async function equals(read, expected) {
  const text = JSON.stringify(expected);
  await until(
    async () => JSON.stringify(await read()) === text,
    async () => `${text}, not ${JSON.stringify(await read())}`,
  );
}

/**
 * Gives a browser's pages the same limit for their own waits: for elements, addresses and downloads.
 * @template {import("playwright-core").BrowserContext} T
 * @param {T} context
 */
export function withLimit(context) {
  context.setDefaultTimeout(LIMIT);
  return context;
}

/**
 * Waits until the text of an element matches.
 * @param {import("playwright-core").Page} page
 * @param {string} id its `data-testid`
 * @param {RegExp} pattern
 */
export async function reads(page, id, pattern) {
  const text = () =>
    page.evaluate(
      (id) => document.querySelector(`[data-testid=${id}]`)?.textContent ?? "",
      id,
    );
  await until(
    async () => pattern.test(await text()),
    async () => `${id} reads ${pattern}, not “${await text()}”`,
  );
}

/**
 * The same in a browser that a WebDriver controls.
 * @param {import("selenium-webdriver").WebDriver} driver
 * @param {string} id its `data-testid`
 * @param {RegExp} pattern
 */
export async function readsIn(driver, id, pattern) {
  const text = () =>
    driver.executeScript(
      "return document.querySelector(`[data-testid=${arguments[0]}]`)?.textContent ?? ''",
      id,
    );
  await until(
    async () => pattern.test(String(await text())),
    async () => `${id} reads ${pattern}, not “${await text()}”`,
  );
}
