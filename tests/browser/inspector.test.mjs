// The panel of traffic: it shows the same requests as the log of the host.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";
import { reads, until } from "./support/until.mjs";

/** Opens a game of several blocks and waits for its answers. */
const openGame = (/** @type {import("playwright-core").Page} */ page) =>
  page
    .goto(shelf.url("site/#game=morphy-isouard-1858"))
    .then(() => reads(page, "coverage", /^(\d+) of \1 /));

test("the panel shows the byte ranges that the host has sent, and after a reload those of IndexedDB", async (t) => {
  const page = await shelf.page(t, { path: "" });
  await openGame(page);
  const requests = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/site/db/"),
  );
  await page.getByTestId("inspect").click();
  await reads(
    page,
    "traffic-totals",
    new RegExp(
      `^[\\d.]+ kB of 1\\.0 MB, ${requests.length} requests, no server$`,
    ),
  );
  const rows = page.getByTestId("traffic").locator("tbody tr");
  const shown = await rows.locator("td:nth-child(2)").allInnerTexts();
  assert.deepEqual(
    shown.map((row) => row.replaceAll(",", "").replace("–", "-")).sort(),
    requests.map(({ range }) => range?.replace("bytes=", "") ?? "all").sort(),
  );
  assert.equal(
    await page.getByTestId("traffic").locator(".strip i").count(),
    requests.length - 1,
  );
  assert.deepEqual(await findings(page), []);
  await page.getByTestId("inspect").click();
  assert.ok(await page.getByTestId("traffic").isHidden());

  await page.reload();
  await page.getByTestId("inspect").click();
  await until(async () =>
    (await page.getByTestId("traffic").innerText()).includes("IndexedDB"),
  );
});
