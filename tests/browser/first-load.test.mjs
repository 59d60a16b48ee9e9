// Files of the board before its first evaluation, with nothing cached. Later parts must not add to them. The test prints their sizes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import * as shelf from "./support/shelf.mjs";
import { equals, reads } from "./support/until.mjs";

/** Opens the board. Returns the files that it has requested when the first evaluation is shown, with their bytes in Brotli. */
async function firstFiles(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ path,
) {
  const page = await shelf.page(t, { path });
  await reads(page, "facts", /^Depth/);
  const files = await page.evaluate(() => {
    const entries = /** @type {PerformanceResourceTiming[]} */ ([
      ...performance.getEntriesByType("navigation"),
      ...performance.getEntriesByType("resource"),
    ]);
    const named = entries
      .filter(({ name }) => name.startsWith("http"))
      .map(({ name, encodedBodySize, startTime, responseEnd }) => ({
        path: new URL(name).pathname,
        sent: encodedBodySize,
        startTime,
        responseEnd,
      }));
    return named.map((file) => ({
      ...file,
      name: (file.path.split("/").pop() ?? "").replace(/-[\w-]{8}\./, "."),
    }));
  });
  const lookedUp = Math.max(
    ...files
      .filter(({ name }) => name.endsWith(".silo"))
      .map(({ responseEnd }) => responseEnd),
  );
  const first = files.filter(({ startTime }) => startTime < lookedUp);
  return Promise.all(
    first.map(async (file) => {
      // A lookup reads a range of a shard. A host compresses all other files.
      if (file.name.endsWith(".silo")) return { ...file, bytes: file.sent };
      const response = await fetch(new URL(file.path, shelf.server.url));
      const body = new Uint8Array(await response.arrayBuffer());
      return { ...file, bytes: brotliCompressSync(body).length };
    }),
  );
}

test("the first evaluation of the board needs at most 9 files and 183 kB", async (t) => {
  const files = await firstFiles(t, "site/");
  const sum = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const listed = `${sum} bytes: ${files.map(({ name, bytes }) => `${name} ${bytes}`).join(", ")}`;
  t.diagnostic(listed);
  assert.ok(files.length <= 9 && sum <= 183_000, listed);
});

test("if the address names a game, its parts are requested before the scripts of the page have arrived", async (t) => {
  const files = await firstFiles(t, "site/#game=morphy-isouard-1858&ply=4");
  const main =
    files.find(({ name }) => name === "index.js") ?? assert.fail("no script");
  for (const part of ["game-parts.js", "game-parts.css", "links.js"]) {
    const found = files.filter(({ name }) => name === part);
    assert.ok(
      found.length === 1 &&
        found.every(({ startTime }) => startTime < main.responseEnd),
      `${part}: ${JSON.stringify(found)}`,
    );
  }
});

test("a move before the parts of a game are loaded is kept: in the list, in the address and after a reload", async (t) => {
  const page = await shelf.page(t, {
    path: "about:blank",
    context: { serviceWorkers: "block" },
    allow: /Service Worker registration blocked/,
  });
  // The parts arrive after the move.
  let release = () => {};
  const held = new Promise(
    (resolve) => void (release = () => resolve(undefined)),
  );
  await page.route(/game-parts-.*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(shelf.url("site/"));
  await reads(page, "facts", /^Depth/);
  await page.getByTestId("move-input").fill("e4");
  await page.keyboard.press("Enter");
  await reads(page, "position-text", /e4/);
  assert.equal(await page.locator("#moves .row").count(), 0);
  release();
  await equals(() => page.locator("#moves .san").allInnerTexts(), ["e4"]);
  await page.waitForURL(/#moves=e2e4&ply=1$/);
  await page.reload();
  await equals(
    () => page.locator("#moves [aria-current] .san").allInnerTexts(),
    ["e4"],
  );
});
