// The module in a Worker.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { START, askWorker, kept, lab } from "./support/lab.mjs";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Asks a module Worker for some positions. */
function ask(
  /** @type {import("playwright-core").Page} */ page,
  /** @type {string[]} */ fens,
) {
  return page.evaluate(askWorker, /** @type {const} */ ([shelf.entry, fens]));
}

test("a module Worker answers like the page, with few requests", async (t) => {
  const page = await shelf.page(t);
  const { answers, stats } = /** @type {any} */ (
    await ask(page, [START, "nonsense", "8/8/8/3k4/8/8/3K4/N7 w - -"])
  );
  assert.equal(answers[0].fen, START);
  assert.ok(answers[0].best.depth > 0);
  assert.equal(answers[2], null);
  const ranges = (await shelf.server.requests()).filter(({ range }) => range);
  assert.ok(ranges.length >= 1 && ranges.length <= 2);
  assert.equal(stats.requests, 1 + ranges.length);
  const here = await page.evaluate(
    async (fen) =>
      (await shelfish.openDatabase("db/manifest.json")).lookup(fen),
    START,
  );
  assert.deepEqual(answers[0], here);
});

test("a Worker and its page share the IndexedDB cache", async (t) => {
  const page = await shelf.page(t);
  await ask(page, [START]);
  await kept(page, 2);
  await shelf.server.requests();
  const { answers } = /** @type {any} */ (await ask(page, [START]));
  assert.equal(answers[0].fen, START);
  assert.deepEqual(
    (await shelf.server.requests()).filter(({ range }) => range),
    [],
  );
});
