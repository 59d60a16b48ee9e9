// Chromium, and what tests in every browser use.
import { chromium } from "playwright-core";
import { CHROMIUM } from "./paths.mjs";

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
export const AFTER_E4 =
  "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

/**
 * Starts Chromium.
 * @param {import("playwright-core").LaunchOptions} options
 */
export const launch = (options = {}) =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--ignore-certificate-errors",
    ],
    ...options,
  });

/** @typedef {import("playwright-core").Page & { console: string[] }} Page */

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
