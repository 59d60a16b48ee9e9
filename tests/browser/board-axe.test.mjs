// Accessibility: axe finds no violation on any page, nor on the board in its states, on a desk in light and on a phone in dark colours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";

const READY = "#facts:has-text('Depth')";

/** Pages of the site, what is there when each is ready, and a button that opens a dialog. */
const STATES = /** @type {const} */ ([
  ["", READY],
  ["#game=kasparov-topalov-1999&ply=46", READY],
  [
    "#fen=8/p6p/8/3k4/8/8/P2K3P/N7_w_-_-_0_1",
    "#facts:has-text('Engine, depth')",
  ],
  ["#fen=8/8/8/4k3/8/8/8/2B1KN2_w_-_-_0_1", "#facts:has-text('White wins')"],
  ["", READY, "settings"],
  ["", READY, "help"],
  ["#game=morphy-isouard-1858&ply=5", READY, "share"],
  ["", READY, "open"],
  ["explorer.html", "#played-moves .score span >> nth=3"],
  ["openings.html", "cg-board"],
  ["precedent.html", "#moves:not(.stale) button >> nth=9"],
  ["how.html", "#steps:has-text('The record')"],
  ["bookmarklet.html", "#bookmarklet"],
  ["play.html", "cg-board"],
  [
    "embed.html#pgnz=M9RTSDVRqFaIVk0tS8xRMNAzjlWoVUg1VTDSUwjMMFVQMUNI6kJltQA",
    "button:has-text('Qh5?!')",
  ],
]);

for (const [colorScheme, width, height] of /** @type {const} */ ([
  ["light", 1366, 768],
  ["dark", 360, 740],
])) {
  for (const [path, ready, button] of STATES)
    test(`axe finds no violation at ${button ?? (path || "the board")}, ${colorScheme}, ${width} by ${height}`, async (t) => {
      const viewport = { width, height };
      const page = await shelf.page(t, {
        path: `site/${path}`,
        context: { viewport, colorScheme, reducedMotion: "reduce" },
      });
      await page.locator(ready).first().waitFor({ state: "attached" });
      if (button) {
        // On a phone the button is in a menu.
        await page.getByTestId(button).dispatchEvent("click");
        await page.getByTestId(`${button}-dialog`).waitFor();
      }
      assert.deepEqual(await findings(page), []);
    });
}
