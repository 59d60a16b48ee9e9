// The page that explains lookups: it shows the requests that were made.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { reads } from "./support/until.mjs";

test("the page shows the request that the host got, and none for a position in memory", async (t) => {
  const page = await shelf.page(t, { path: "site/how.html" });
  await reads(page, "facts", /\d+,\d+positions/);
  await reads(page, "totals", /Read: [\d.]+ kB of \d+ kB, \d+ requests/);
  await shelf.server.requests();
  await page.getByTestId("fen").fill("8/8/8/3k4/8/8/3K4/N7 w - - 0 1");
  await page.getByTestId("fen").press("Enter");
  await reads(page, "steps", /not in the database/);
  const [request] = await shelf.server.requests();
  const shown = await page.getByTestId("steps").innerText();
  assert.ok(
    shown.includes(`GET ${request?.path}\nRange: ${request?.range}`),
    shown,
  );
  await page.getByTestId("fen").press("Enter");
  await reads(page, "steps", /in memory/);
});

test("an invalid position and a missing database are explained", async (t) => {
  const page = await shelf.page(t, { path: "site/how.html" });
  await page.getByTestId("fen").fill("8/8/8/8/8/8/8/8 w - - 0 1");
  await page.getByTestId("fen").press("Enter");
  await reads(page, "steps", /The lookup failed/);
  const other = await shelf.page(t, {
    path: "site/how.html?db=missing/manifest.json",
    allow: /404/,
  });
  await reads(other, "facts", /no readable database/);
});
