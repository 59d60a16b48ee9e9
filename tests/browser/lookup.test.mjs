// Lookups: their answers and their requests.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { host } from "./support/host.mjs";
import { START, lab } from "./support/lab.mjs";
import { DUMPS } from "./support/paths.mjs";
import { best, plain, truth } from "./support/truth.mjs";

/** @typedef {Awaited<ReturnType<typeof lab>>} Lab */

/** @type {Lab} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

/** Opens the database at a path as the global `database` of a page. */
async function open(
  /** @type {import("playwright-core").Page} */ page,
  path = "db/manifest.json",
  options = {},
) {
  await page.evaluate(
    async ([path, options]) =>
      void (globalThis.database = await shelfish.openDatabase(path, options)),
    /** @type {const} */ ([path, options]),
  );
}

for (const [path, count, why] of /** @type {const} */ ([
  ["db", 2, "with inline pages in the manifest"],
  ["famous", 3, "without inline pages in the manifest"],
])) {
  test(`a cold lookup in a database ${why} takes ${count} requests and at most 40 KiB, and a neighbour at most one more request`, async (t) => {
    const page = await shelf.page(t);
    await open(page, `${path}/manifest.json`);
    const answer = await page.evaluate((fen) => database.lookup(fen), START);
    assert.equal(answer?.fen, START);
    const cold = (await shelf.server.requests()).filter((request) =>
      request.path.startsWith(`/${path}/`),
    );
    const kinds = [
      [200, false],
      [206, true],
      [206, true],
    ].slice(0, count);
    assert.deepEqual(
      cold.map(({ status, range }) => [status, range !== null]),
      kinds,
    );
    const stats = await page.evaluate(() => database.stats());
    assert.equal(stats.requests, count);
    assert.ok(stats.bytes <= 40 * 1024, `${stats.bytes} bytes`);

    assert.ok(await page.evaluate((fen) => database.lookup(fen), AFTER_E4));
    assert.ok((await shelf.server.requests()).length <= 1);
  });
}

/** Looks up positions, and compares the answers with their source. */
async function answersOf(
  /** @type {import("playwright-core").Page} */ page,
  /** @type {ReturnType<typeof truth>} */ source,
  /** @type {string[]} */ fens,
) {
  const answers = await page.evaluate(
    (fens) => database.lookupMany(fens, { castling: "chess960" }),
    fens,
  );
  return fens.map((fen, i) => {
    const answer = answers[i];
    assert.ok(answer && "evaluations" in answer, fen);
    assert.deepEqual(
      answer.evaluations.map(plain).sort(),
      source.get(fen)?.map(plain).sort(),
      fen,
    );
    return /** @type {const} */ ([fen, answer]);
  });
}

test("every position of the famous games has the answer of its source", async (t) => {
  const page = await shelf.page(t);
  await open(page, "famous/manifest.json");
  const source = truth(String(DUMPS[1]));
  for (const [fen, answer] of await answersOf(page, source, [
    ...source.keys(),
  ])) {
    const deepest = best(source.get(fen) ?? []);
    assert.ok(
      deepest && plain(answer.best).startsWith(`${deepest.depth}; `),
      fen,
    );
  }
});

test("a whole game takes each block once", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const fens = [...truth(String(DUMPS[1])).keys()].slice(0, 88);
  assert.ok(
    (await page.evaluate((fens) => database.lookupMany(fens), fens)).every(
      (answer) => answer,
    ),
  );
  const stats = await page.evaluate(() => database.stats());
  const served = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  const ranges = served.filter(({ range }) => range);
  assert.equal(
    new Set(ranges.map(({ path, range }) => path + range)).size,
    ranges.length,
  );
  const asked = ranges.map(({ range }) =>
    (range ?? "").split(/\D+/).filter(Boolean).map(Number),
  );
  const bytes = asked.reduce(
    (sum, [first = 0, last = 0]) => sum + last + 1 - first,
    0,
  );
  const manifest = statSync(join(String(shelf.root), "db/manifest.json")).size;
  assert.deepEqual(
    [stats.requests, stats.bytes],
    [served.length, bytes + manifest],
    "the statistics agree with the log of the host",
  );
  assert.ok(ranges.length <= 40, `${ranges.length} requests`);
  await page.evaluate((fens) => database.lookupMany(fens), fens);
  assert.deepEqual(await shelf.server.requests(), []);
});

test("the memory cache is bounded", async (t) => {
  const page = await shelf.page(t);
  const fens = [...truth(String(DUMPS[0])).keys()].filter(
    (_, i) => i % 600 === 0,
  );
  await open(page, "db/manifest.json", {
    memoryBytes: 48 * 1024,
    indexedDB: false,
  });
  await page.evaluate((fens) => database.lookupMany(fens), [START, ...fens]);
  await shelf.server.requests();
  await page.evaluate((fens) => database.lookupMany(fens), fens);
  assert.ok(
    (await shelf.server.requests()).length > 0,
    "removed blocks are fetched again",
  );

  await open(page, "db/manifest.json", { memoryBytes: 0, indexedDB: false });
  const twice = await page.evaluate(
    async (fen) => [await database.lookup(fen), await database.lookup(fen)],
    START,
  );
  assert.deepEqual(twice[0], twice[1]);
  const asked = (await shelf.server.requests())
    .filter(({ range }) => range)
    .map(({ path, range }) => `${path} ${range}`);
  assert.ok(new Set(asked).size < asked.length, "no block is cached");
});

test("a lookup can be aborted while other lookups of the same block continue", async (t) => {
  const slow = await host(`${shelf.root}/db`);
  t.after(() => slow.close());
  /** @type {Promise<() => void>} */
  const asked = new Promise((resolve) => {
    slow.fault = ({ response, headers, body }) =>
      resolve(() => response.writeHead(206, headers).end(body));
  });
  const page = await shelf.page(t);
  await open(page, `${slow.url}manifest.json`);
  await page.evaluate((fen) => {
    const controller = new AbortController();
    const first = database
      .lookup(fen, { signal: controller.signal })
      .catch((/** @type {any} */ error) => error.code);
    Object.assign(globalThis, {
      controller,
      first,
      second: database.lookup(fen),
    });
  }, START);
  const answer = await asked;
  const codes = await page.evaluate(async (fen) => {
    const { controller, first } = /** @type {any} */ (globalThis);
    controller.abort();
    const late = database
      .lookup(fen, { signal: AbortSignal.abort() })
      .catch((/** @type {any} */ error) => error.code);
    return [await first, await late];
  }, START);
  assert.deepEqual(codes, ["aborted", "aborted"]);
  answer();
  assert.equal(
    await page.evaluate(
      async () => (await /** @type {any} */ (globalThis).second)?.fen,
    ),
    START,
  );
});
