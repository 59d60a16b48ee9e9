// Elements that move without an action of the user, as the browser reports them.

/** @typedef {import("playwright-core").Page} Page */

/**
 * Runs in a page. Records the elements that move from now on, or since the start of the load, with their places.
 * @param {{ fromBegin?: boolean }} options
 */
export function record({ fromBegin = false }) {
  /** @type {string[]} */
  const shifts = [];
  Object.assign(globalThis, { shifts });
  const named = (/** @type {any} */ node) =>
    [node?.parentElement, node]
      .map((part) =>
        [
          part?.localName,
          part?.id && `#${part.id}`,
          part?.className && `.${part.className}`,
        ]
          .filter(Boolean)
          .join(""),
      )
      .join(" ") || "gone";
  const box = (/** @type {DOMRect} */ { x, y, width, height }) =>
    [x, y, width, height].map(Math.round).join();
  const moved = (/** @type {any} */ { node, previousRect, currentRect }) =>
    `${named(node)} from ${box(previousRect)} to ${box(currentRect)}`;
  new PerformanceObserver((list) => {
    for (const { value, sources, startTime } of /** @type {any[]} */ (
      list.getEntries()
    ))
      shifts.push(
        `${value.toFixed(4)} at ${Math.round(startTime)} ms: ${sources.map(moved).join("; ")}`,
      );
  }).observe({ type: "layout-shift", buffered: fromBegin });
}

/**
 * Waits until the browser has painted the page and reported its shifts: for two frames, and for a task after them.
 * @param {Page} page
 */
export async function painted(page) {
  // An evaluation has no time limit, a wait for a function has.
  await page.waitForFunction(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => setTimeout(done, 0, true)),
        ),
      ),
  );
}

/**
 * Waits until the page is painted, then records the elements that move. A busy machine paints a change of the page late. Without the
 * wait, this earlier change would count.
 * @param {Page} page
 */
export async function recordShifts(page) {
  await painted(page);
  await page.evaluate(record, {});
}

/**
 * Returns the recorded shifts.
 * @param {Page} page
 * @returns {Promise<string[]>}
 */
export async function shifts(page) {
  await painted(page);
  return page.evaluate(() => /** @type {any} */ (globalThis).shifts);
}
