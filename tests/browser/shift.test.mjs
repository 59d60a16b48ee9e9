// Nothing moves during the load of a page: the first paint reserves room for all later content.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, SITE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";
import { until, withLimit } from "./support/until.mjs";

/** Lighthouse's phone and desktop. */
const DEVICES = {
  phone: { viewport: { width: 412, height: 823 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1350, height: 940 } },
};
/** A slow network, which delays late content further. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 90_000 };

/** An element that exists when a page is complete. Other pages only need their heading. */
const READY = {
  "index.html": "#facts:has-text('Depth')",
  "explorer.html": "#moves .score span",
  "precedent.html": "#moves button",
  "play.html": "#level option >> nth=1",
  "how.html": "#order svg",
  "embed.html": "#shown >> .score",
};

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve(SITE);
  // A new scrollbar would move centred content.
  browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, ignoreDefaultArgs: ["--hide-scrollbars"] });
});
after(async () => {
  await browser.close();
  await server.close();
});

for (const name of readdirSync(SITE).filter((name) => name.endsWith(".html"))) {
  for (const [device, options] of Object.entries(DEVICES)) {
    test(`${name} on a ${device}`, async (t) => {
      const context = withLimit(await browser.newContext({ ...options, serviceWorkers: "block" }));
      t.after(() => context.close());
      const page = await context.newPage();
      const tools = await context.newCDPSession(page);
      await tools.send("Network.enable");
      await tools.send("Network.emulateNetworkConditions", SLOW);
      await page.addInitScript(() => {
        /** @type {string[]} */
        const shifts = [];
        Object.assign(globalThis, { shifts });
        const named = (/** @type {any} */ node) => [node?.parentElement, node].map((part) => [part?.localName, part?.id && `#${part.id}`, part?.className && `.${part.className}`].filter(Boolean).join("")).join(" ") || "gone";
        const box = (/** @type {DOMRect} */ { x, y, width, height }) => [x, y, width, height].map(Math.round).join();
        new PerformanceObserver((list) => {
          for (const { value, sources, startTime } of /** @type {any[]} */ (list.getEntries()))
            shifts.push(`${value.toFixed(4)} at ${Math.round(startTime)} ms: ${sources.map((/** @type {any} */ { node, previousRect, currentRect }) => `${named(node)} from ${box(previousRect)} to ${box(currentRect)}`).join("; ")}`);
        }).observe({ type: "layout-shift", buffered: true });
      });
      /** Requests without an answer. @type {Set<import("playwright-core").Request>} */
      const open = new Set();
      page.on("request", (request) => open.add(request));
      let lastEnd = Date.now();
      const ended = (/** @type {import("playwright-core").Request} */ request) => {
        open.delete(request);
        lastEnd = Date.now();
      };
      page.on("requestfinished", ended);
      page.on("requestfailed", ended);
      // Not until the event of the load: the last wait names the request that prevents it.
      await page.goto(new URL(name, server.url).href, { waitUntil: "commit" });
      await page.locator(/** @type {Record<string, string>} */ (READY)[name] ?? "h1").first().waitFor({ state: "attached" });
      // Another request may follow an answer.
      await until(() => open.size === 0 && Date.now() - lastEnd > 500, () => `all requests end: ${[...open].map((request) => request.url())}`);
      // The browser reports entries in a task after their frame.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
      assert.deepEqual(await page.evaluate(() => /** @type {any} */ (globalThis).shifts), []);
    });
  }
}
