// Draws the pictures of the site that cannot be SVG. `cargo xtask pictures` calls it, and the pictures are committed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, ROOT } from "./support/paths.mjs";

const WWW = join(ROOT, "www");
const icon = readFileSync(join(WWW, "public/favicon.svg"), "utf8");

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: FLAGS,
});

/** Takes a picture of a page that has the size of the picture. */
async function draw(
  /** @type {string} */ name,
  /** @type {number} */ width,
  /** @type {number} */ height,
  /** @type {(page: import("playwright-core").Page) => Promise<unknown>} */ load,
) {
  const page = await browser.newPage({ viewport: { width, height } });
  await load(page);
  await page.screenshot({
    path: join(WWW, "public", name),
    omitBackground: true,
  });
  await page.close();
}

const svg =
  (/** @type {string} */ text) =>
  (/** @type {import("playwright-core").Page} */ page) =>
    page.setContent(
      `<style>body { margin: 0 } svg { display: block; width: 100vw; height: 100vh }</style>${text}`,
    );
// A mask may cut a tenth off each side.
const maskable = icon
  .replace('viewBox="0 0 24 24"', 'viewBox="-3 -3 30 30"')
  .replace("<rect", '<rect x="-3" y="-3"')
  .replace('width="24" height="24" rx="5"', 'width="30" height="30"');
for (const size of [192, 512])
  await draw(`icon-${size}.png`, size, size, svg(icon));
await draw("icon-180.png", 180, 180, svg(maskable));
await draw("icon-512-maskable.png", 512, 512, svg(maskable));
await draw("card.png", 1200, 630, (page) =>
  page.goto(pathToFileURL(join(WWW, "art/card.html")).href),
);
await browser.close();
