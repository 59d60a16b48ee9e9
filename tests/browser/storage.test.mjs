// IndexedDB: a cache that survives reloads, is bounded, and is optional.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { START } from "./support/chromium.mjs";
import { host } from "./support/host.mjs";
import { ATTACK, DUMPS } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const MANIFEST = "db/manifest.json";

/** Positions of many blocks. */
const SPREAD = [...truth(String(DUMPS[0])).keys()].filter(
  (_, i) => i % 600 === 0,
);

/** Opens a database and looks positions up, which must be found. Returns the statistics. */
async function lookUp(
  /** @type {Page} */ page,
  /** @type {string[]} */ fens,
  options = {},
) {
  const { found, stats } = await page.evaluate(
    async ([path, fens, options]) => {
      const database = await shelfish.openDatabase(path, options);
      const answers = await database.lookupMany(fens);
      const stats = database.stats();
      database.close();
      return {
        found: answers.map((answer) => answer && "fen" in answer && answer.fen),
        stats,
      };
    },
    /** @type {const} */ ([MANIFEST, fens, options]),
  );
  assert.deepEqual(found, fens);
  return stats;
}

/** Loads the page again, with the module. */
async function reload(/** @type {Page} */ page) {
  await page.reload();
  await shelf.load(page);
  await shelf.server.requests();
}

/** Returns the number of bytes of pages and blocks in IndexedDB. */
const bytesOf = async (/** @type {Page} */ page) =>
  Number(
    await page.evaluate(
      `(${shelf.stored})("bytes").then((all) => all.reduce((sum, { byteLength }) => sum + byteLength, 0))`,
    ),
  );

const ranges = async () =>
  (await shelf.server.requests()).filter(({ range }) => range);

test("after a reload, and in another tab, a visited position takes only the manifest's revalidation", async (t) => {
  const page = await shelf.page(t);
  const { networkBlocks } = await lookUp(page, SPREAD);
  await shelf.kept(page, 1 + networkBlocks);
  await reload(page);
  assert.ok((await lookUp(page, SPREAD)).indexedDBHits > 0);
  const asked = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  // The host does not send the manifest again.
  assert.deepEqual(
    asked.map(({ path, range, status }) => [path, range, status]),
    [["/db/manifest.json", null, 304]],
  );
  const other = await page.context().newPage();
  await other.goto(shelf.server.url);
  await shelf.load(other);
  await Promise.all([lookUp(page, SPREAD), lookUp(other, SPREAD)]);
  assert.deepEqual(await ranges(), []);
});

test("offline the last manifest is used, and no request is sent", async (t) => {
  const page = await shelf.page(t);
  await lookUp(page, [START]);
  await shelf.kept(page, 2);
  await reload(page);
  // The module is loaded, but the database is not open.
  await page.evaluate(() =>
    shelfish.openDatabase("missing/manifest.json").catch(() => {}),
  );
  await shelf.server.requests();
  page.console.length = 0;
  await page.context().setOffline(true);
  assert.equal((await lookUp(page, [START])).requests, 0);
  await page.context().setOffline(false);
  assert.deepEqual(await shelf.server.requests(), []);
});

for (const [what, before] of /** @type {const} */ ([
  [
    "is missing",
    () =>
      void Object.defineProperty(globalThis, "indexedDB", { value: undefined }),
  ],
  [
    "is forbidden",
    () =>
      void (IDBFactory.prototype.open = () => {
        throw new DOMException("private", "SecurityError");
      }),
  ],
  [
    "opens as null",
    () => void (IDBFactory.prototype.open = () => /** @type {any} */ (null)),
  ],
  [
    "is full",
    () =>
      void (IDBObjectStore.prototype.put = () => {
        throw new DOMException("full", "QuotaExceededError");
      }),
  ],
  [
    "never opens",
    () =>
      void (IDBFactory.prototype.open = () =>
        /** @type {any} */ (new EventTarget())),
  ],
  [
    "never answers a request",
    () => {
      for (const { prototype } of [IDBObjectStore, IDBIndex])
        for (const name of ["get", "getAll", "count", "openCursor", "put"])
          if (name in prototype)
            Object.assign(prototype, {
              [name]: () =>
                Object.assign(new EventTarget(), {
                  result: undefined,
                  error: null,
                }),
            });
    },
  ],
])) {
  test(`if IndexedDB ${what}, every call of the package ends, and positions are found`, async (t) => {
    const page = await shelf.page(t, { before });
    const stats = await lookUp(page, [START, ...SPREAD]);
    assert.equal(stats.indexedDBHits, 0);
    await page.evaluate(async (path) => {
      const database = await shelfish.openDatabase(path);
      await database.clear();
      database.close();
    }, MANIFEST);
  });
}

test("the cache is bounded in bytes, and the most recently used blocks stay", async (t) => {
  const page = await shelf.page(t);
  const options = {
    indexedDB: { name: "small", bytes: 100_000 },
    memoryBytes: 0,
  };
  const last = [String(SPREAD.at(-1))];
  for (const fen of SPREAD) await lookUp(page, [fen], options);
  // Repeats until the last block comes from IndexedDB.
  while ((await lookUp(page, last, options)).networkBlocks > 0);
  const bytes = await bytesOf(page);
  assert.ok(bytes > 20_000 && bytes <= 120_000, `${bytes} bytes`);
  await shelf.server.requests();
  await lookUp(page, last, options);
  assert.deepEqual(await ranges(), []);
  assert.deepEqual(
    await page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name),
    ),
    ["small"],
  );
});

test("if the disk gives the origin little room, the cache makes do with it", async (t) => {
  const page = await shelf.page(t);
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", {
    origin: new URL(shelf.server.url).origin,
    quotaSize: 30_000,
  });
  for (let round = 0; round < 3; round++)
    await lookUp(page, SPREAD, { memoryBytes: 0 });
  const bytes = await bytesOf(page);
  assert.ok(bytes < 30_000, `${bytes} bytes`);
});

test("blocks of a forged database in the cache, and corrupt bytes, are never used", async (t) => {
  const dir = join(shelf.root, "attacks");
  execFileSync(ATTACK, ["write", dir]);
  const [honest, forged] = [
    await host(join(dir, "honest")),
    await host(join(dir, "forged")),
  ];
  t.after(() => Promise.all([honest.close(), forged.close()]));
  const page = await shelf.page(t);
  const score = (/** @type {string} */ url) =>
    page.evaluate(async ([url, fen]) => {
      const database = await shelfish.openDatabase(url);
      const answer = await database.lookup(fen);
      database.close();
      return answer?.pvs[0]?.score;
    }, /** @type {const} */ ([url, START]));
  const lie = await score(forged.url);
  assert.notEqual(lie, "+5.20", "the checksums of the forgery are valid");
  await shelf.kept(page, 2);
  await reload(page);
  assert.equal(await score(honest.url), "+5.20");
  await shelf.kept(page, 4);
  assert.equal(await score(forged.url), lie);
  assert.equal(await score(honest.url), "+5.20");
  const blocks = () =>
    [honest, forged].map(
      ({ requests }) => requests.filter(({ range }) => range).length,
    );
  assert.deepEqual(blocks(), [1, 1], "the blocks of both stay in the cache");
  await page.evaluate(async () => {
    const done = (/** @type {IDBRequest} */ request) =>
      new Promise(
        (resolve) => (request.onsuccess = () => resolve(request.result)),
      );
    for (const { name } of await indexedDB.databases()) {
      const connection = await done(indexedDB.open(String(name)));
      const store = connection
        .transaction("bytes", "readwrite")
        .objectStore("bytes");
      await new Promise((resolve) => {
        store.openCursor().onsuccess = (/** @type {Event} */ { target }) => {
          const cursor = /** @type {any} */ (target).result;
          if (!cursor) return resolve(undefined);
          const { length } = cursor.value;
          cursor.update(cursor.value.fill(7, length >> 1));
          cursor.continue();
        };
      });
      connection.close();
    }
  });
  await reload(page);
  assert.equal(await score(honest.url), "+5.20");
  assert.equal(blocks()[0], 2, "corrupt bytes are fetched again");
});

test("every connection to IndexedDB is closed, after an aborted opening and after pending writes", async (t) => {
  const page = await shelf.page(t, {
    before: () => {
      globalThis.connections = new Set();
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args);
        connections.add(request);
        return request;
      };
      const { close } = IDBDatabase.prototype;
      IDBDatabase.prototype.close = function () {
        for (const request of connections)
          if (request.readyState === "done" && request.result === this)
            connections.delete(request);
        close.call(this);
      };
    },
  });
  const isClosed = () =>
    until(() => page.evaluate(() => connections.size === 0));
  await lookUp(page, [START]);
  await shelf.kept(page, 2);
  await isClosed();
  const code = await page.evaluate(async (path) => {
    const controller = new AbortController();
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (...args) {
      controller.abort();
      return open.apply(this, args);
    };
    const { signal } = controller;
    const code = await shelfish
      .openDatabase(path, { signal })
      .catch((/** @type {any} */ error) => error.code);
    IDBFactory.prototype.open = open;
    return code;
  }, MANIFEST);
  assert.equal(code, "aborted");
  await isClosed();
});
