// The panel of traffic: it shows the same requests as the log of the host.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { lab } from "./support/lab.mjs";
import { SIZES } from "./support/sizes.mjs";
import { reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const SITE = {
  path: "site/",
  context: { viewport: { width: 1200, height: 900 } },
};

/** Shows the panel, which loads after the first evaluation. */
async function panel(/** @type {Page} */ page) {
  await page.getByTestId("inspect").click();
  await page.getByTestId("traffic-totals").waitFor();
}

/** Opens a game with positions in several blocks and waits until all blocks are read. */
async function openGame(/** @type {Page} */ page) {
  await page
    .getByTestId("games")
    .locator("optgroup option")
    .first()
    .waitFor({ state: "attached" });
  const labels = await page
    .getByTestId("games")
    .locator("option")
    .allInnerTexts();
  await page
    .getByTestId("games")
    .selectOption({
      label: String(labels.find((label) => label.includes("Opera"))),
    });
  await until(() =>
    page.evaluate(
      () =>
        Number(
          document
            .querySelector(".inspector .strip")
            ?.getAttribute("data-ranges"),
        ) >= 4,
    ),
  );
  await page.waitForLoadState("networkidle");
}

/** Returns the requests for the database, the manifest first. */
async function seen() {
  const requests = await shelf.server.requests();
  return requests.filter(({ path }) => path.startsWith("/site/db/"));
}

test("the panel shows the byte ranges that the host has sent", async (t) => {
  const page = await shelf.page(t, { ...SITE, path: "" });
  await page.goto(new URL(SITE.path, shelf.server.url).href);
  await panel(page);
  await openGame(page);
  const asked = await seen();
  const ranges = asked.flatMap(({ range }) =>
    range ? [range.replace("bytes=", "")] : [],
  );
  await until(() =>
    page.evaluate(
      (count) =>
        document
          .querySelector(".inspector .strip")
          ?.getAttribute("data-ranges") === count,
      String(ranges.length + 1),
    ),
  );
  const database = join(shelf.root, "site/db");
  const whole = readdirSync(database)
    .filter((file) => file.endsWith(".silo"))
    .reduce((sum, file) => sum + statSync(join(database, file)).size, 0);
  const bytes =
    statSync(join(database, "manifest.json")).size +
    ranges
      .map((range) => range.split("-").map(Number))
      .reduce((sum, [start = 0, end = 0]) => sum + end + 1 - start, 0);
  assert.equal(
    await page.getByTestId("traffic-totals").innerText(),
    `${(bytes / 1000).toFixed(1)} kB of ${(whole / 1e6).toFixed(1)} MB, ${asked.length} requests, no server`,
  );
  await page.locator(".inspector summary").click();
  // The page draws the table when it is idle.
  await page.locator(".inspector tbody tr").nth(ranges.length).waitFor();
  const rows = await page
    .locator(".inspector tbody tr td:nth-child(3)")
    .allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.replaceAll(",", "").replace("–", "-")).sort(),
    ["all", ...ranges].sort(),
  );
  // A row of pixels has the colour of files and the colour of read bytes.
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector(".inspector canvas");
    if (!(canvas instanceof HTMLCanvasElement)) return 0;
    const pixels =
      canvas.getContext("2d")?.getImageData(0, 5, canvas.width, 1).data ?? [];
    return new Set(
      Array.from({ length: canvas.width }, (_, x) =>
        String(pixels.slice(4 * x, 4 * x + 4)),
      ),
    ).size;
  });
  assert.ok(colours >= 2, String(colours));
});

for (const { width, height, touch } of SIZES) {
  test(`a line with the totals stays, and shows and hides the panel, at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/",
      context: {
        viewport: { width, height },
        hasTouch: touch,
        isMobile: touch,
      },
    });
    const line = page.getByTestId("inspect");
    const press = () => (touch ? line.tap() : line.click());
    await reads(
      page,
      "inspect-totals",
      /^\d+\.\d kB, \d+ requests?, no server$/,
    );
    assert.ok(await page.getByTestId("traffic").isHidden());
    await press();
    assert.equal(await line.getAttribute("aria-expanded"), "true");
    await page.getByTestId("traffic-totals").waitFor();
    await reads(
      page,
      "traffic-totals",
      /kB of 1\.0 MB, \d+ requests?, no server$/,
    );
    // The panel is inside the window, or the page was scrolled to it.
    await until(() =>
      page.getByTestId("traffic-totals").evaluate((totals) => {
        const { top, bottom } = totals.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      }),
    );
    assert.ok(
      await page.evaluate(
        (width) => document.documentElement.scrollWidth <= width,
        width,
      ),
    );
    assert.deepEqual(await findings(page), []);
    await press();
    assert.equal(await line.getAttribute("aria-expanded"), "false");
    assert.ok(await page.getByTestId("traffic").isHidden());
    assert.ok(await line.isVisible());
  });
}

test("after a reload the blocks are read from IndexedDB, and the panel shows the source", async (t) => {
  const page = await shelf.page(t, SITE);
  await panel(page);
  await openGame(page);
  await until(() =>
    page.evaluate(async () => {
      const [entry] = await indexedDB.databases();
      return entry !== undefined;
    }),
  );
  await page.reload();
  await panel(page);
  await until(() =>
    page.evaluate(() =>
      /IndexedDB\s*[1-9]/.test(
        document.querySelector(".inspector .figures")?.textContent ?? "",
      ),
    ),
  );
  await page.locator(".inspector summary").click();
  await until(() =>
    page.evaluate(() =>
      /IndexedDB/.test(
        document.querySelector(".inspector tbody")?.textContent ?? "",
      ),
    ),
  );
});

test("stepping through a game that was looked up draws nothing", async (t) => {
  const page = await shelf.page(t, SITE);
  await panel(page);
  await openGame(page);
  // After the whole game is answered, the page draws nothing more when it is idle.
  await until(() =>
    page.evaluate(() => {
      const [known, all] =
        document.querySelector("#coverage")?.textContent?.match(/\d+/g) ?? [];
      return known !== undefined && known === all;
    }),
  );
  await page.evaluate(
    () => new Promise((resolve) => requestIdleCallback(resolve)),
  );
  await page.evaluate(() => {
    Object.assign(globalThis, { drawn: 0 });
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      if (this.canvas.closest(".inspector"))
        Object.assign(globalThis, {
          drawn: /** @type {any} */ (globalThis).drawn + 1,
        });
      return clearRect.apply(this, box);
    };
  });
  await page.keyboard.press("Home");
  for (let ply = 0; ply < 13; ply++) await page.keyboard.press("ArrowRight");
  await page.evaluate(
    () => new Promise((resolve) => requestIdleCallback(resolve)),
  );
  assert.equal(
    await page.evaluate(() => /** @type {any} */ (globalThis).drawn),
    0,
  );
});
