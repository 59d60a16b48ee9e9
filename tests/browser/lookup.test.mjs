// Lookups: their answers and their requests.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
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

test("a warm lookup takes no request", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const first = await page.evaluate((fen) => database.lookup(fen), START);
  await shelf.server.requests();
  const before = await page.evaluate(() => database.stats());
  assert.deepEqual(
    await page.evaluate((fen) => database.lookup(fen), START),
    first,
  );
  const after = await page.evaluate(() => database.stats());
  assert.deepEqual(await shelf.server.requests(), []);
  assert.equal(after.requests, before.requests);
  assert.equal(after.lookups, before.lookups + 1);
  assert.ok(after.memoryHits > before.memoryHits);
});

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

test("thousands of positions of the sample have the answers of their sources", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const source = truth(...DUMPS);
  await answersOf(
    page,
    source,
    [...source.keys()].filter((_, i) => i % 17 === 0),
  );
});

test("a position that is not in the database is null, not an error", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const fens = [..."abcdefgh"].flatMap((_, file) =>
    [1, 3, 4, 6].map((rank) => {
      const rows = ["8", "8", "8", "8", "8", "8", "8", "8"];
      rows[0] = "k7";
      rows[7] = "7K";
      rows[rank] = `${file || ""}N${7 - file || ""}`;
      return `${rows.join("/")} b - -`;
    }),
  );
  assert.deepEqual(
    await page.evaluate((fens) => database.lookupMany(fens), fens),
    fens.map(() => null),
  );
  assert.equal(
    await page.evaluate((fen) => database.lookup(fen), String(fens[0])),
    null,
  );
});

test("six fields, any order of castling letters and a dead en-passant square are the same position", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const fens = [
    START,
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w kqKQ - 12 34",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha -",
  ];
  const answers = await page.evaluate(
    (fens) => database.lookupMany(fens),
    fens,
  );
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  const dead = await page.evaluate(
    (fen) => database.lookup(fen),
    AFTER_E4.replace(/-$/, "e3"),
  );
  assert.equal(dead?.fen, AFTER_E4);
});

test("the error of a malformed FEN names the part, and other positions are answered", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const bad = [
    "",
    "x",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq -",
    "8/8/8/8/8/8/8/8 w - -",
    "♔",
    "8".repeat(10_000),
  ];
  const entries = await page.evaluate(
    async (fens) =>
      (await database.lookupMany(fens)).map((entry) =>
        entry instanceof shelfish.ShelfishError
          ? [entry.code, entry instanceof Error, entry.message.length]
          : entry?.fen,
      ),
    [START, ...bad],
  );
  assert.equal(entries[0], START);
  for (const entry of entries.slice(1)) {
    assert.ok(Array.isArray(entry));
    assert.deepEqual(entry.slice(0, 2), ["fen", true]);
    assert.ok(
      Number(entry[2]) > 10 && Number(entry[2]) < 500,
      "a message that can be shown",
    );
  }
  const code = await page.evaluate(() =>
    database.lookup("nonsense").catch((/** @type {any} */ error) => error.code),
  );
  assert.equal(code, "fen");
});

test("scores are written from White's point of view, lines in UCI with either castling and in SAN", async (t) => {
  const page = await shelf.page(t);
  await open(page, "famous/manifest.json");
  const source = truth(String(DUMPS[1]));
  const castles = [...source].find(([, evals]) =>
    best(evals)?.pvs[0]?.line.startsWith("e1h1"),
  )?.[0];
  assert.ok(castles);
  const [standard, chess960] = await page.evaluate(
    async (fen) => [
      (await database.lookup(fen, { san: true }))?.best.pvs[0],
      (await database.lookup(fen, { castling: "chess960" }))?.best.pvs[0],
    ],
    castles,
  );
  assert.deepEqual(
    [standard?.uci[0], standard?.san?.[0], chess960?.uci[0]],
    ["e1g1", "O-O", "e1h1"],
  );
  assert.equal(chess960?.san, undefined);
  assert.equal(standard?.san?.length, standard?.uci.length);

  const answers = await page.evaluate(
    (fens) => database.lookupMany(fens),
    [...source.keys()],
  );
  const shown = answers.flatMap((answer) =>
    answer && "best" in answer
      ? answer.evaluations.flatMap(({ pvs }) => pvs)
      : [],
  );
  for (const { cp, mate, score } of shown) {
    const expected =
      mate !== undefined
        ? `#${mate}`
        : `${Number(cp) < 0 ? "-" : Number(cp) > 0 ? "+" : ""}${Math.abs(Number(cp) / 100).toFixed(2)}`;
    assert.ok(
      score === expected || (cp === 0 && /^[+-]?0\.00$/.test(score)),
      `${score} for ${cp ?? `#${mate}`}`,
    );
  }
  assert.ok(shown.some(({ mate }) => mate !== undefined));
});

test("concurrent lookups of a block share a request", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const answers = await page.evaluate(
    (fen) =>
      Promise.all(Array.from({ length: 50 }, () => database.lookup(fen))),
    START,
  );
  assert.ok(answers.every((answer) => answer?.fen === START));
  assert.equal(
    (await shelf.server.requests()).filter(({ path }) =>
      path.startsWith("/db/"),
    ).length,
    2,
  );
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

test("exactly the allowed number of requests runs at the same time", async (t) => {
  const bad = await host(`${shelf.root}/db`);
  t.after(() => bad.close());
  let [allowed, running, most] = [0, 0, 0];
  /** @type {(() => void)[]} */
  const held = [];
  bad.fault = ({ response, headers, body }) => {
    most = Math.max(most, ++running);
    held.push(() => {
      running--;
      response.writeHead(206, headers).end(body);
    });
    // Answers wait until the allowed number of requests has arrived, and then 30 ms more, in which further requests might arrive.
    if (most >= allowed)
      for (const answer of held.splice(0)) setTimeout(answer, 30);
  };
  const page = await shelf.page(t);
  const fens = [...truth(String(DUMPS[0])).keys()].filter(
    (_, i) => i % 600 === 0,
  );
  for (const concurrency of [2, 4]) {
    [allowed, most] = [concurrency, 0];
    await open(page, `${bad.url}manifest.json`, {
      concurrency,
      indexedDB: false,
    });
    await page.evaluate((fens) => database.lookupMany(fens), fens);
    assert.equal(most, concurrency);
  }
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

test("the module is loaded once for any number of databases", async (t) => {
  const page = await shelf.page(t);
  await page.evaluate(async () => {
    const paths = [
      "db/manifest.json",
      "famous/manifest.json",
      "db/manifest.json",
    ];
    await Promise.all(paths.map((path) => shelfish.openDatabase(path)));
    await shelfish.openDatabase("db/manifest.json");
  });
  const served = await shelf.server.requests();
  assert.equal(served.filter(({ path }) => path.endsWith(".wasm")).length, 1);
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

test("opening can be aborted", async (t) => {
  const silent = await host(`${shelf.root}/db`);
  t.after(() => silent.close());
  /** @type {Promise<void>} */
  const asked = new Promise(
    (resolve) => void (silent.manifestFault = () => resolve()),
  );
  const page = await shelf.page(t);
  await page.evaluate((url) => {
    const controller = new AbortController();
    const opening = shelfish
      .openDatabase(url, { signal: controller.signal })
      .catch((/** @type {any} */ error) => error.code);
    Object.assign(globalThis, { controller, opening });
  }, `${silent.url}manifest.json`);
  await asked;
  const code = await page.evaluate(() => {
    const { controller, opening } = /** @type {any} */ (globalThis);
    controller.abort();
    return opening;
  });
  assert.equal(code, "aborted");
});

test("lookups in a closed database are errors", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const codes = await page.evaluate(async (fen) => {
    database.close();
    database.close();
    return Promise.all([
      database.lookup(fen).catch((/** @type {any} */ error) => error.code),
      database
        .lookupMany([fen])
        .catch((/** @type {any} */ error) => error.code),
    ]);
  }, START);
  assert.deepEqual(codes, ["closed", "closed"]);
});

test("the manifest describes the content of the database", async (t) => {
  const page = await shelf.page(t);
  await open(page, "famous/manifest.json");
  const { format, positions, evaluations, pvs, bytes, shards } =
    await page.evaluate(() => ({ ...database.manifest }));
  const source = [...truth(String(DUMPS[1])).values()];
  assert.deepEqual(
    [positions, evaluations],
    [source.length, source.flat().length],
  );
  assert.equal(
    pvs,
    source.flat().flatMap((evaluation) => evaluation.pvs).length,
  );
  assert.ok(format >= 1 && bytes > 10_000);
  const files = readdirSync(join(shelf.root, "famous")).filter((file) =>
    file.endsWith(".silo"),
  );
  assert.deepEqual(shards.map(({ file }) => file).sort(), files.sort());
  for (const shard of shards)
    assert.equal(
      shard.bytes,
      statSync(join(shelf.root, "famous", shard.file)).size,
    );
  assert.equal(
    shards.reduce((sum, shard) => sum + shard.bytes, 0),
    bytes,
  );
  const named = JSON.parse(
    readFileSync(join(shelf.root, "famous/manifest.json"), "utf8"),
  ).shards[0].pages;
  assert.equal(
    shards[0]?.pageBytes,
    named.reduce(
      (/** @type {number} */ sum, /** @type {any} */ [, length]) =>
        sum + length,
      0,
    ),
  );
  assert.equal(
    shards.reduce((sum, shard) => sum + shard.positions, 0),
    positions,
  );
});
