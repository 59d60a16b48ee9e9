// Steps on the pages of the site that several tests take.
import assert from "node:assert/strict";
import { stored } from "./shelf.mjs";
import { until } from "./until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Runs in a page before its scripts. Turns the engine off. */
export const withoutEngine = () =>
  localStorage.setItem("settings", '{"engine":false}');

/** Returns the element with a `data-testid`. */
export const at = (/** @type {Page} */ page, /** @type {string} */ id) =>
  page.getByTestId(id);

/** Waits until an element is visible and contains a text. */
export const says = (
  /** @type {Page} */ page,
  /** @type {string} */ id,
  /** @type {RegExp} */ expected,
) => at(page, id).filter({ hasText: expected }).waitFor();

/** Opens a text in the dialog. */
export async function open(
  /** @type {Page} */ page,
  /** @type {string} */ text,
) {
  await at(page, "open").click();
  await at(page, "open-text").fill(text);
  await at(page, "open-submit").click();
}

/** Types a move into its field. */
export async function answer(
  /** @type {Page} */ page,
  /** @type {string} */ san,
) {
  await at(page, "move-input").fill(san);
  await at(page, "move-input").press("Enter");
}

/** Plays a move by its name, and leaves the field. */
export async function play(
  /** @type {Page} */ page,
  /** @type {string} */ san,
) {
  await answer(page, san);
  await until(async () => (await at(page, "move-input").inputValue()) === "");
  await at(page, "move-input").blur();
}

/** Returns the current move in the list of moves. */
export const current = (/** @type {Page} */ page) =>
  page.locator("#moves [aria-current] .san").textContent();

/** Waits until the board has stored a game whose text matches. */
export const stores = (
  /** @type {Page} */ page,
  /** @type {RegExp} */ pattern,
) =>
  until(
    async () =>
      (await page.evaluate(stored, "texts")).some((text) =>
        pattern.test(String(text)),
      ),
    `the store has ${pattern}`,
  );

/** Returns the middle of a square of a board. */
export async function square(
  /** @type {Page} */ page,
  /** @type {string} */ name,
  { board = "#board cg-board", isFlipped = false } = {},
) {
  const box =
    (await page.locator(board).boundingBox()) ?? assert.fail("no board");
  const [file, rank] = [name.charCodeAt(0) - 97, Number(name[1]) - 1];
  const [column, row] = isFlipped ? [7 - file, rank] : [file, 7 - rank];
  return {
    x: box.x + ((column + 0.5) * box.width) / 8,
    y: box.y + ((row + 0.5) * box.height) / 8,
  };
}

/** Clicks squares of a board. */
export async function clickSquares(
  /** @type {Page} */ page,
  /** @type {string[]} */ names,
  options = {},
) {
  for (const name of names) {
    const { x, y } = await square(page, name, options);
    await page.mouse.click(x, y);
  }
}
