// Nothing moves during the load of a page: the first paint reserves room for all later content.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, test } from "node:test";

import { launch } from "./support/chromium.mjs";
import { SITE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";
import { record, shifts } from "./support/shifts.mjs";
import { withLimit } from "./support/until.mjs";

/** Lighthouse's phone and desktop. */
const DEVICES = {
  phone: {
    viewport: { width: 412, height: 823 },
    isMobile: true,
    hasTouch: true,
  },
  desktop: { viewport: { width: 1350, height: 940 } },
};
/**
 * A slow network, which delays late content further. The server simulates it, as in the other tests: with the simulation of
 * Chromium's tools, requests of a page sometimes never got a response.
 */
const SLOW = ["--latency-ms", "150", "--bandwidth-mbit", "1.6"];

/** An element that exists when a page is complete. Other pages only need their heading. */
const READY = {
  "index.html": "#facts:has-text('Depth')",
  "explorer.html": "#played-moves .score span",
  "precedent.html": "#moves button",
  "play.html": "#level option >> nth=1",
  "how.html": "#steps:has-text('The record')",
};

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve(SITE, ...SLOW);
  // A new scrollbar would move centred content.
  browser = await launch({ ignoreDefaultArgs: ["--hide-scrollbars"] });
});
after(async () => {
  await browser.close();
  await server.close();
});

for (const name of readdirSync(SITE).filter((name) => name.endsWith(".html"))) {
  for (const [device, options] of Object.entries(DEVICES)) {
    test(`no element of ${name} moves during the load on a ${device}`, async (t) => {
      const context = withLimit(
        await browser.newContext({ ...options, serviceWorkers: "block" }),
      );
      t.after(() => context.close());
      const page = await context.newPage();
      await page.addInitScript(record, { fromBegin: true });
      await page.goto(new URL(name, server.url).href);
      const ready = /** @type {Record<string, string>} */ (READY)[name] ?? "h1";
      await page.locator(ready).first().waitFor({ state: "attached" });
      await page.waitForLoadState("networkidle");
      // Less than a thousandth is less than a pixel of a line.
      const moved = (await shifts(page)).filter((shift) => shift >= "0.001");
      assert.deepEqual(moved, []);
    });
  }
}
