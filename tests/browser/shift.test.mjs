// Nothing moves during the load of a page: the first paint reserves room for all later content.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, SITE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";
import { record, shifts } from "./support/shifts.mjs";
import { until, withLimit } from "./support/until.mjs";

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
  "how.html": "#order:has-text('positions in')",
  "embed.html": "#shown >> .score",
};

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve(SITE, ...SLOW);
  // A new scrollbar would move centred content.
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: FLAGS,
    ignoreDefaultArgs: ["--hide-scrollbars"],
  });
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
      /** Requests that have not ended, with the time of the request and the status of the response. @type {Map<import("playwright-core").Request, { start: number, status?: number }>} */
      const open = new Map();
      /** Failed requests and lines of the console. @type {string[]} */
      const remarks = [];
      let lastEnd = Date.now();
      const ended = (
        /** @type {import("playwright-core").Request} */ request,
      ) => {
        open.delete(request);
        lastEnd = Date.now();
      };
      page.on("request", (request) => open.set(request, { start: Date.now() }));
      page.on("response", (response) =>
        Object.assign(open.get(response.request()) ?? {}, {
          status: response.status(),
        }),
      );
      page.on("requestfinished", ended);
      page.on("requestfailed", (request) => {
        ended(request);
        remarks.push(
          `${request.url()} failed: ${request.failure()?.errorText}`,
        );
      });
      page.on("console", (message) => remarks.push(message.text()));
      page.on("pageerror", (error) => remarks.push(error.message));
      page.on("crash", () => remarks.push("the page crashed"));
      const pending = () =>
        [...open].map(
          ([request, { start, status }]) =>
            `${request.url()} (${status ?? "no response"} after ${Date.now() - start} ms)`,
        );
      const situation = async () =>
        JSON.stringify({
          pending: pending(),
          remarks,
          served: (await server.requests()).map(
            ({ status, path }) => `${status} ${path}`,
          ),
        });
      const named =
        (/** @type {string} */ wait) =>
        async (/** @type {unknown} */ cause) => {
          throw new Error(`${wait}: ${await situation()}`, { cause });
        };
      // Drops the requests of the page before.
      await server.requests();

      // Not until the event of the load: a failed wait names the requests that prevent it.
      await page
        .goto(new URL(name, server.url).href, { waitUntil: "commit" })
        .catch(named("the navigation"));
      const ready = /** @type {Record<string, string>} */ (READY)[name] ?? "h1";
      await page
        .locator(ready)
        .first()
        .waitFor({ state: "attached" })
        .catch(named(`the element ${ready}`));
      // Another request may follow an answer.
      await until(
        () => open.size === 0 && Date.now() - lastEnd > 500,
        async () => `all requests end: ${await situation()}`,
      );
      assert.deepEqual(await shifts(page).catch(named("two frames")), []);
    });
  }
}
