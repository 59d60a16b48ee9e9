// Lighthouse's audits of the pages of the site and of some pages of the documentation on a phone, and of the board on a desktop: at least 95 of 100
// in each category.
// SHELFISH_LONG=1 also audits the other pages on a desktop, and performance, which depends on the load of the machine.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";
import { CHROMIUM, SITE } from "../browser/support/paths.mjs";
import { serve } from "../browser/support/serve.mjs";

const LEAST = 95;
const JUDGED = ["accessibility", "best-practices", "seo"];
const CATEGORIES = process.env.SHELFISH_LONG
  ? ["performance", ...JUDGED]
  : JUDGED;

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chrome;
before(async () => {
  server = await serve(SITE);
  chrome = await launch({
    chromePath: CHROMIUM,
    chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"],
  });
});
after(async () => {
  chrome.kill();
  await server.close();
});

/** Pages of the documentation: the first page, a guide, a page of the API, and the longest page. */
const DOCS = [
  "docs/index.html",
  "docs/ten-minutes.html",
  "docs/shelfish-Database.html",
  "docs/measurements.html",
];

const pages = [
  ...readdirSync(SITE).filter(
    (name) => name.endsWith(".html") && name !== "404.html",
  ),
  ...DOCS,
];

for (const name of pages) {
  for (const [device, config] of /** @type {const} */ ([
    ["phone", undefined],
    ["desktop", desktopConfig],
  ])) {
    if (
      device === "desktop" &&
      name !== "index.html" &&
      !process.env.SHELFISH_LONG
    )
      continue;
    test(`${name} has good Lighthouse scores on a ${device}`, async (t) => {
      const url = new URL(name === "index.html" ? "" : name, server.url).href;
      /** @type {Record<string, number>} */
      const scores = {};
      /** @type {string[]} */
      let problems = [];
      // The better score of two attempts counts.
      for (let tries = 0; tries < 2; tries++) {
        const result = await lighthouse(
          url,
          {
            port: chrome.port,
            output: "json",
            logLevel: "error",
            onlyCategories: tries ? ["performance"] : CATEGORIES,
          },
          config,
        );
        assert.ok(result, "a report");
        const { categories, audits, runtimeError } = result.lhr;
        assert.equal(runtimeError, undefined);
        problems = [];
        for (const [id, { score, auditRefs }] of Object.entries(categories)) {
          scores[id] = Math.max(
            scores[id] ?? 0,
            Math.round(Number(score) * 100),
          );
          for (const ref of auditRefs) {
            const audit = audits[ref.id];
            if (
              ref.weight > 0 &&
              audit &&
              audit.score !== null &&
              audit.score < 0.9
            )
              problems.push(
                `${id}: ${audit.title}${audit.displayValue ? `, ${audit.displayValue}` : ""}`,
              );
          }
        }
        if (Number(scores.performance ?? LEAST) >= LEAST) break;
      }
      t.diagnostic(JSON.stringify(scores));
      assert.deepEqual(Object.keys(scores).sort(), [...CATEGORIES].sort());
      for (const [id, score] of Object.entries(scores))
        assert.ok(score >= LEAST, `${id}: ${score}\n${problems.join("\n")}`);
    });
  }
}
