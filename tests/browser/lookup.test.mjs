// Lookups: their answers and their requests, the errors of a host, and databases in Workers.
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AFTER_E4, START } from "./support/chromium.mjs";
import { faults, host } from "./support/host.mjs";
import { DUMPS } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, plain, truth } from "./support/truth.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("node:test").TestContext} Test */

// Chromium reports every failed request in the console.
const allow = /Failed to load resource|net::ERR_|CORS/;
const FAMOUS = [...truth(String(DUMPS[1]))];

/** Opens the database at a path as the global `database` of a page. */
const open = (
  /** @type {Page} */ page,
  path = "db/manifest.json",
  options = {},
) =>
  page.evaluate(
    async ([path, options]) =>
      void (globalThis.database = await shelfish.openDatabase(path, options)),
    /** @type {const} */ ([path, options]),
  );

/** Opens a database and looks up a position. Returns the FEN of the answer, or the code and the message of the error. */
const attempt = (
  /** @type {Page} */ page,
  /** @type {string} */ url,
  options = {},
) =>
  page.evaluate(async ([url, fen, options]) => {
    try {
      const database = await shelfish.openDatabase(url, {
        timeout: 60_000,
        indexedDB: false,
        ...options,
      });
      return { fen: (await database.lookup(fen))?.fen };
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      return { code, message };
    }
  }, /** @type {const} */ ([url, START, options]));

/** Starts a host of another origin, which ends with the test. */
async function far(/** @type {Test} */ t, folder = "db") {
  const far = await host(join(shelf.root, folder));
  t.after(() => far.close());
  return far;
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

test("every position of the famous games has the answer of its source", async (t) => {
  const page = await shelf.page(t);
  await open(page, "famous/manifest.json");
  const answers = await page.evaluate(
    (fens) => database.lookupMany(fens, { castling: "chess960" }),
    FAMOUS.map(([fen]) => fen),
  );
  for (const [i, [fen, expected]] of FAMOUS.entries()) {
    const answer = answers[i];
    assert.ok(answer && "evaluations" in answer, fen);
    assert.deepEqual(
      answer.evaluations.map(plain).sort(),
      expected.map(plain).sort(),
      fen,
    );
    assert.equal(answer.depth, best(expected)?.depth, fen);
  }
});

test("a whole game takes each block once", async (t) => {
  const page = await shelf.page(t);
  await open(page);
  const fens = FAMOUS.slice(0, 88).map(([fen]) => fen);
  const found = await page.evaluate((fens) => database.lookupMany(fens), fens);
  assert.ok(found.every((answer) => answer));
  const stats = await page.evaluate(() => database.stats());
  const served = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  const ranges = served.flatMap(({ path, range }) =>
    range ? [`${path} ${range}`] : [],
  );
  assert.equal(new Set(ranges).size, ranges.length);
  assert.ok(ranges.length <= 40, `${ranges.length} requests`);
  const bytes = ranges.reduce(
    (sum, range) => {
      const [, first, last] = /(\d+)-(\d+)$/.exec(range) ?? [];
      return sum + Number(last) + 1 - Number(first);
    },
    statSync(join(shelf.root, "db/manifest.json")).size,
  );
  assert.deepEqual(
    [stats.requests, stats.bytes],
    [served.length, bytes],
    "the statistics agree with the log of the host",
  );
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
});

test("a lookup can be aborted while other lookups of the same block continue", async (t) => {
  const slow = await far(t);
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

test("a host without CORS is an error with its remedy, after a single request", async (t) => {
  const bad = await far(t);
  bad.manifestFault = ({ response, body }) =>
    void response.writeHead(200).end(body);
  const page = await shelf.page(t, { allow });
  const failed = await attempt(page, `${bad.url}manifest.json`);
  assert.equal(failed.code, "network");
  assert.match(
    String(failed.message),
    /Access-Control-Allow-Origin.*connect-src/,
  );
  assert.equal(bad.requests.length, 1);
  // A host that has answered may recover.
  bad.manifestFault = undefined;
  bad.fault = faults.reset;
  bad.requests.length = 0;
  const lost = await attempt(page, `${bad.url}manifest.json`);
  assert.equal(lost.code, "network");
  assert.doesNotMatch(String(lost.message), /Access-Control/);
  // Chromium itself also repeats a request on a connection that was open.
  assert.ok(bad.requests.filter(({ range }) => range).length >= 3);
});

test("a Content-Security-Policy that forbids the host is an error with its remedy, without a request", async (t) => {
  const good = await far(t);
  const page = await shelf.page(t, {
    allow: /Content Security Policy|violates/,
  });
  await page.evaluate(() => {
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = "connect-src 'self'";
    document.head.append(policy);
  });
  const failed = await attempt(page, good.url);
  assert.equal(failed.code, "network");
  assert.match(String(failed.message), /connect-src/);
  assert.equal(good.requests.length, 0);
});

test("without a connection the error names that reason, not CORS or a policy", async (t) => {
  const good = await far(t);
  const page = await shelf.page(t, { allow });
  await open(page, good.url, { indexedDB: false });
  await page.context().setOffline(true);
  const opened = await attempt(page, `${good.url}manifest.json`);
  const lookup = await page.evaluate(
    (fen) =>
      database.lookup(fen).catch((/** @type {any} */ error) => error.message),
    START,
  );
  for (const message of [opened.message, lookup]) {
    assert.match(String(message), /the device is offline/);
    assert.doesNotMatch(String(message), /Access-Control|Content-Security/);
  }
});

test("an error that no code catches is reported with its message and the line of the caller", async (t) => {
  const page = await shelf.page(t, { allow: /^uncaught: / });
  const reported = page.waitForEvent("pageerror");
  await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent =
      "async function theCaller() { const d = await shelfish.openDatabase('db/', { indexedDB: false }); await d.lookup('nonsense'); }\ntheCaller();";
    document.body.append(script);
  });
  const error = await reported;
  assert.match(error.message, /FEN has 1 field/);
  assert.equal(error.name, "ShelfishError");
  assert.match(String(error.stack), /theCaller/);
  assert.doesNotMatch(String(error.stack), /wasm/);
});

test("a new build can replace the old build while a page has the old build open, and the manifest is read again once", async (t) => {
  const renewed = await far(t, "famous");
  const page = await shelf.page(t, { allow });
  await open(page, `${renewed.url}manifest.json`, {
    indexedDB: false,
    memoryBytes: 0,
  });
  assert.ok(await page.evaluate((fen) => database.lookup(fen), START));
  renewed.directory = join(shelf.root, "db");
  renewed.requests.length = 0;
  const fens = [START, ...FAMOUS.slice(0, 60).map(([fen]) => fen)];
  const answers = await page.evaluate(
    (fens) => Promise.all(fens.map((fen) => database.lookup(fen))),
    fens,
  );
  assert.ok(answers.every((answer) => answer));
  assert.equal(
    answers[0]?.depth,
    best(truth(...DUMPS).get(START) ?? [])?.depth,
  );
  assert.equal(
    renewed.requests.filter(({ path }) => path === "/manifest.json").length,
    1,
  );
});

const worker = `import { openDatabase } from "${shelf.entry}"; import { serve } from "/pkg/worker.js";`;
writeFileSync(join(shelf.root, "evals.mjs"), `${worker} serve(openDatabase);`);
writeFileSync(
  join(shelf.root, "shared.mjs"),
  `${worker} onconnect = ({ ports: [port] }) => serve(openDatabase, port);`,
);

/** Opens a page with the wrapper as `remote` and a function that returns the error of a rejected promise. */
async function withWorker(/** @type {Test} */ t, options = {}) {
  const page = await shelf.page(t, options);
  await page.evaluate(async () => {
    const entry = "/pkg/worker.js";
    Object.assign(globalThis, {
      remote: await import(entry),
      work: () => new Worker("/evals.mjs", { type: "module" }),
      told: (/** @type {Promise<unknown>} */ promise) =>
        promise.then(
          () => "an answer",
          (error) => {
            const { name, code, url, status, cause } = error;
            return [
              error instanceof remote.ShelfishError && name,
              code,
              ...[status, url, cause?.message].filter((value) => value),
            ];
          },
        ),
    });
  });
  return page;
}

test("a database in a Worker gives the same answers, and the page loads no module", async (t) => {
  const page = await withWorker(t);
  const fens = [START, "nonsense", "8/8/8/3k4/8/8/3K4/N7 w - -"];
  const [far, here] = await page.evaluate(async (fens) => {
    const ask = async (/** @type {any} */ open) => {
      const database = await open("db/manifest.json", { indexedDB: false });
      const options = /** @type {const} */ ({
        san: true,
        castling: "chess960",
      });
      const one = await database.lookup(String(fens[0]), options);
      const many = await database.lookupMany(new Set(fens));
      await database.prefetch(fens);
      const { lookups } = await database.stats();
      const manifest = await database.manifest;
      await database.clear();
      database.close();
      const codes = many.map((/** @type {any} */ each) => each?.code ?? each);
      return { one, codes, lookups, manifest };
    };
    const inWorker = await ask((/** @type {any} */ ...args) =>
      remote.connect(work(), .../** @type {[string, object]} */ (args)),
    );
    const modules = performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.endsWith(".wasm")).length;
    return [{ ...inWorker, modules }, await ask(shelfish.openDatabase)];
  }, fens);
  assert.deepEqual(far, { ...here, modules: 0 });
  assert.deepEqual(here?.codes.slice(1), ["fen", null]);
});

test("aborting, errors and closing are the same in a Worker", async (t) => {
  const page = await withWorker(t, { allow });
  const errors = await page.evaluate(async (fen) => {
    const worker = work();
    const database = await remote.connect(worker, "db/", { indexedDB: false });
    const abort = new AbortController();
    const { signal } = abort;
    const aborting = told(database.lookup(fen, { signal }));
    abort.abort(new Error("enough"));
    const { connect } = remote;
    const found = [
      await aborting,
      await told(connect(worker, "db/", { signal })),
      await told(connect(worker, "none/")),
      await told(database.lookupMany(/** @type {any} */ (fen))),
    ];
    const closing = told(database.lookup(fen));
    database.close();
    database.close();
    return [...found, await closing, await told(database.stats())];
  }, START);
  assert.deepEqual(errors, [
    ["AbortError", "aborted", "enough"],
    ["AbortError", "aborted", "enough"],
    ["ShelfishError", "status", 404, shelf.url("none/manifest.json")],
    ["ShelfishError", "usage"],
    ["ShelfishError", "closed"],
    ["ShelfishError", "closed"],
  ]);
});

test("a Worker that connect created ends when the database closes, and after a failed opening", async (t) => {
  const page = await withWorker(t, { allow });
  for (const folder of ["db/", "none/"]) {
    const ended = page
      .waitForEvent("worker")
      .then((worker) => worker.waitForEvent("close"));
    await page.evaluate(async (folder) => {
      const database = await remote.connect(work, folder).catch(() => null);
      database?.close();
    }, folder);
    await ended;
  }
});

test("a SharedWorker serves several databases", async (t) => {
  const page = await withWorker(t);
  const [left, right] = await page.evaluate(async (fen) => {
    const ask = async (/** @type {string} */ folder) => {
      const { port } = new SharedWorker("/shared.mjs", { type: "module" });
      const database = await remote.connect(port, folder, { indexedDB: false });
      const answer = await database.lookup(fen);
      return [answer?.fen, (await database.manifest).positions];
    };
    return Promise.all([ask("db/"), ask("famous/")]);
  }, START);
  assert.deepEqual([left?.[0], right?.[0]], [START, START]);
  assert.notEqual(left?.[1], right?.[1]);
});
