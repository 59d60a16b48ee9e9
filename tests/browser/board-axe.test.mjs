// Accessibility: axe finds no violation on any page in both colour schemes, nor on the board in its states.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const known = (/** @type {Page} */ page) =>
  until(() =>
    page.evaluate(() =>
      document.querySelector("#facts")?.textContent?.startsWith("Depth"),
    ),
  );

/** @type {Record<string, { hash: string, act?: (page: Page) => Promise<unknown> }>} */
const STATES = {
  "the starting position": { hash: "" },
  "a game": { hash: "#game=kasparov-topalov-1999&ply=46" },
  "a position that is not in the database": {
    hash: "#fen=8/p6p/8/3k4/8/8/P2K3P/N7_w_-_-_0_1",
    act: (page) =>
      until(() =>
        page.evaluate(() =>
          /^Engine, depth/.test(
            document.querySelector("#facts")?.textContent ?? "",
          ),
        ),
      ),
  },
  "an ending of the tables": {
    hash: "#fen=8/8/8/4k3/8/8/8/2B1KN2_w_-_-_0_1",
    act: (page) =>
      until(() =>
        page.evaluate(() =>
          /^White wins/.test(
            document.querySelector("#facts")?.textContent ?? "",
          ),
        ),
      ),
  },
  "the settings": {
    hash: "",
    act: (page) =>
      page
        .evaluate(() => document.getElementById("settings")?.click())
        .then(() => page.getByTestId("settings-dialog").waitFor()),
  },
  "the help": {
    hash: "",
    act: (page) =>
      page.keyboard
        .press("?")
        .then(() => page.getByTestId("help-dialog").waitFor()),
  },
  "what can be taken along": {
    hash: "#game=morphy-isouard-1858&ply=5",
    act: (page) =>
      page
        .evaluate(() => document.getElementById("share")?.click())
        .then(() => page.getByTestId("share-dialog").waitFor()),
  },
  "the dialog that opens a game": {
    hash: "",
    act: (page) =>
      page
        .getByTestId("open")
        .click()
        .then(() => page.getByTestId("open-dialog").waitFor()),
  },
};

/** The other pages, and a condition that holds when each is ready. */
const PAGES = {
  "explorer.html": () =>
    document.querySelectorAll("#played-moves .score span").length > 3 &&
    document.querySelectorAll("#played-moves tr").length > 10,
  "openings.html": () => document.querySelector("cg-board") !== null,
  "precedent.html": () =>
    document.querySelectorAll("#moves:not(.stale) button").length > 10,
  "how.html": () =>
    /positions in/.test(document.querySelector("#order")?.textContent ?? ""),
  "bookmarklet.html": () => document.readyState === "complete",
  "play.html": () => document.querySelector("cg-board") !== null,
};

for (const [colorScheme, width, height] of /** @type {const} */ ([
  ["light", 1366, 768],
  ["dark", 360, 740],
])) {
  const check = (
    /** @type {string} */ name,
    /** @type {string} */ path,
    /** @type {(page: Page) => Promise<unknown>} */ ready,
  ) =>
    test(`axe finds no violation at ${name}, ${colorScheme}, ${width} by ${height}`, async (t) => {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        context: {
          viewport: { width, height },
          colorScheme,
          reducedMotion: "reduce",
        },
      });
      await ready(page);
      assert.deepEqual(await findings(page), []);
    });
  for (const [state, { hash, act = known }] of Object.entries(STATES))
    check(state, hash, act);
  for (const [name, ready] of Object.entries(PAGES))
    check(name, name, (page) => until(() => page.evaluate(ready)));
}
