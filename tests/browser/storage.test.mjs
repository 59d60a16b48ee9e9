// IndexedDB: a cache that survives reloads, is bounded, and is optional.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { host } from "./support/host.mjs";
import { START, kept, lab } from "./support/lab.mjs";
import { ATTACK, DUMPS } from "./support/paths.mjs";
import { truth } from "./support/truth.mjs";
import { LIMIT, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const MANIFEST = "db/manifest.json";

/** Positions of many blocks. */
const SPREAD = [...truth(String(DUMPS[0])).keys()].filter(
  (_, i) => i % 600 === 0,
);

/** Opens a database and looks positions up. The result contains null for missing positions. */
async function lookUp(
  /** @type {Page} */ page,
  /** @type {string[]} */ fens,
  options = {},
) {
  return page.evaluate(async ([path, fens, options]) => {
    const database = await shelfish.openDatabase(path, options);
    const answers = await database.lookupMany(fens);
    const stats = database.stats();
    database.close();
    return {
      fens: answers.map((answer) =>
        answer && "fen" in answer ? answer.fen : null,
      ),
      stats,
    };
  }, /** @type {const} */ ([MANIFEST, fens, options]));
}

/** Checks that all positions of a page's open database are found, those of many blocks and one that was looked up before. */
async function continues(/** @type {Page} */ page) {
  const answers = await page.evaluate(
    (fens) => database.lookupMany(fens),
    [START, ...SPREAD],
  );
  assert.deepEqual(
    answers.map((answer) => answer && "fen" in answer && answer.fen),
    [START, ...SPREAD],
  );
}

/** Opens a database in the page as the global `database`, and looks a position up. */
async function opened(/** @type {Page} */ page, options = {}) {
  const found = await page.evaluate(async ([path, fen, options]) => {
    globalThis.database = await shelfish.openDatabase(path, options);
    return (await database.lookup(fen))?.fen;
  }, /** @type {const} */ ([MANIFEST, START, options]));
  assert.equal(found, START);
}

/** Returns the number of bytes of all buffers in all databases of the page. */
function stored(/** @type {Page} */ page) {
  return page.evaluate(async () => {
    const done = (/** @type {IDBRequest} */ request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    /** @type {(value: unknown) => number} */
    const size = (value) => {
      if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
        return value.byteLength;
      return value && typeof value === "object"
        ? Object.values(value).reduce((sum, part) => sum + size(part), 0)
        : 0;
    };
    let sum = 0;
    for (const { name } of await indexedDB.databases()) {
      const connection = await done(indexedDB.open(String(name)));
      for (const store of connection.objectStoreNames) {
        sum += size(
          await done(connection.transaction(store).objectStore(store).getAll()),
        );
      }
      connection.close();
    }
    return sum;
  });
}

test("after a reload a visited position takes only the manifest's revalidation", async (t) => {
  const page = await shelf.page(t);
  await lookUp(page, [START]);
  await kept(page, 2);
  await page.reload();
  await shelf.load(page);
  await shelf.server.requests();
  const { fens, stats } = await lookUp(page, [START]);
  assert.deepEqual(fens, [START]);
  const asked = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  assert.deepEqual(
    asked.map(({ path, range }) => [path, range]),
    [["/db/manifest.json", null]],
  );
  assert.equal(asked[0]?.status, 304, "the manifest is not sent again");
  assert.ok(stats.indexedDBHits > 0);
});

test("offline the last manifest is used, and no request is sent", async (t) => {
  const page = await shelf.page(t);
  await lookUp(page, [START]);
  await kept(page, 2);
  await page.reload();
  await shelf.load(page);
  // The module is loaded, but the database is not open.
  await page.evaluate(() =>
    shelfish.openDatabase("missing/manifest.json").catch(() => {}),
  );
  await shelf.server.requests();
  page.console.length = 0;
  await page.context().setOffline(true);
  /** @type {string[]} */
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const { fens, stats } = await lookUp(page, [START]);
  assert.deepEqual(fens, [START]);
  assert.deepEqual(asked, []);
  assert.equal(stats.requests, 0);
  await page.context().setOffline(false);
  assert.deepEqual(await shelf.server.requests(), []);
});

test("without IndexedDB everything works, but nothing is stored", async (t) => {
  for (const before of [
    () =>
      void Object.defineProperty(globalThis, "indexedDB", { value: undefined }),
    () =>
      void (IDBFactory.prototype.open = () => {
        throw new DOMException("private", "SecurityError");
      }),
    () =>
      void (IDBFactory.prototype.open = () => {
        const error = new DOMException("private", "InvalidStateError");
        const request = /** @type {any} */ (
          Object.assign(new EventTarget(), { error })
        );
        setTimeout(() => request.dispatchEvent(new Event("error")));
        return request;
      }),
    () =>
      void (IDBObjectStore.prototype.put = () => {
        throw new DOMException("full", "QuotaExceededError");
      }),
    () =>
      void (IDBFactory.prototype.open = () =>
        /** @type {any} */ (new EventTarget())),
  ]) {
    const page = await shelf.page(t, { before });
    const { fens, stats } = await lookUp(page, [START, ...SPREAD]);
    assert.deepEqual(fens, [START, ...SPREAD], String(before));
    assert.equal(stats.indexedDBHits, 0);
  }
});

test("the cache is bounded in bytes, and the most recently used blocks stay", async (t) => {
  const page = await shelf.page(t);
  const options = {
    indexedDB: { name: "small", bytes: 100_000 },
    memoryBytes: 0,
  };
  for (const fen of SPREAD) await lookUp(page, [fen], options);
  // Repeats until the last block comes from IndexedDB.
  while (
    (await lookUp(page, [String(SPREAD.at(-1))], options)).stats.networkBlocks >
    0
  );
  const bytes = await stored(page);
  assert.ok(bytes > 20_000 && bytes <= 120_000, `${bytes} bytes`);
  await shelf.server.requests();
  await lookUp(page, [String(SPREAD.at(-1))], options);
  assert.deepEqual(
    (await shelf.server.requests()).filter(({ range }) => range),
    [],
  );
  assert.deepEqual(
    await page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name),
    ),
    ["small"],
  );
});

test("corrupt bytes in the cache are detected and fetched again", async (t) => {
  const page = await shelf.page(t);
  const good = await page.evaluate(
    async ([path, fen]) => (await shelfish.openDatabase(path)).lookup(fen),
    /** @type {const} */ ([MANIFEST, START]),
  );
  await kept(page, 2);
  await page.evaluate(async () => {
    const done = (/** @type {IDBRequest} */ request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    /** @type {(value: unknown) => unknown} */
    const spoil = (value) => {
      if (value instanceof ArrayBuffer)
        new Uint8Array(value).fill(7, value.byteLength >> 1);
      else if (ArrayBuffer.isView(value))
        new Uint8Array(value.buffer, value.byteOffset, value.byteLength).fill(
          7,
          value.byteLength >> 1,
        );
      else if (value && typeof value === "object")
        Object.values(value).forEach(spoil);
      return value;
    };
    for (const { name } of await indexedDB.databases()) {
      const connection = await done(indexedDB.open(String(name)));
      for (const store of connection.objectStoreNames) {
        const objects = connection
          .transaction(store, "readwrite")
          .objectStore(store);
        const [keys, values] = [
          await done(objects.getAllKeys()),
          await done(objects.getAll()),
        ];
        for (const [i, value] of values.entries())
          await done(
            objects.keyPath === null
              ? objects.put(spoil(value), keys[i])
              : objects.put(spoil(value)),
          );
      }
      connection.close();
    }
  });
  await page.reload();
  await shelf.load(page);
  const again = await page.evaluate(
    async ([path, fen]) => (await shelfish.openDatabase(path)).lookup(fen),
    /** @type {const} */ ([MANIFEST, START]),
  );
  assert.deepEqual(again, good);
});

test("blocks of a forged database in the cache are never used for another database", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "shelfish-attack-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
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
      return answer?.best.pvs[0]?.score;
    }, /** @type {const} */ ([url, START]));
  const forgedScore = await score(forged.url);
  assert.notEqual(
    forgedScore,
    "+5.20",
    "the checksums of the forged database are valid, so its score is accepted",
  );
  await kept(page, 2);
  await page.reload();
  await shelf.load(page);
  assert.equal(await score(honest.url), "+5.20");
  await kept(page, 4);
  assert.equal(await score(forged.url), forgedScore);
  assert.equal(await score(honest.url), "+5.20");
  const blocks = (/** @type {typeof honest} */ { requests }) =>
    requests.filter(({ range }) => range).length;
  assert.deepEqual(
    [blocks(honest), blocks(forged)],
    [1, 1],
    "the blocks of both databases stay in the cache",
  );
});

test(
  "every connection to IndexedDB is closed, after an aborted opening and after pending writes",
  { timeout: 3 * LIMIT },
  async (t) => {
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
          for (const request of connections) {
            if (request.readyState === "done" && request.result === this)
              connections.delete(request);
          }
          close.call(this);
        };
      },
    });
    await lookUp(page, [START]);
    await kept(page, 2);
    await until(() => page.evaluate(() => connections.size === 0));
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
    await until(() => page.evaluate(() => connections.size === 0));
  },
);

test("two tabs share the cache", async (t) => {
  const page = await shelf.page(t);
  const { stats } = await lookUp(page, SPREAD);
  await kept(page, 1 + stats.networkBlocks);
  const other = await page.context().newPage();
  await other.goto(shelf.server.url);
  await shelf.load(other);
  await shelf.server.requests();
  const [left, right] = await Promise.all([
    lookUp(page, SPREAD),
    lookUp(other, SPREAD),
  ]);
  assert.deepEqual([left.fens, right.fens], [SPREAD, SPREAD]);
  assert.deepEqual(
    (await shelf.server.requests()).filter(({ range }) => range),
    [],
  );
});

test("if the disk gives the origin little room, the cache makes do with it", async (t) => {
  const page = await shelf.page(t);
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(shelf.server.url);
  await session.send("Storage.overrideQuotaForOrigin", {
    origin,
    quotaSize: 30_000,
  });
  assert.equal(
    (await session.send("Storage.getUsageAndQuota", { origin })).overrideActive,
    true,
  );
  await opened(page, { memoryBytes: 0 });
  for (let round = 0; round < 3; round++) await continues(page);
  const bytes = await stored(page);
  assert.ok(bytes < 30_000, `${bytes} bytes`);
  await session.send("Storage.overrideQuotaForOrigin", { origin });
  await continues(page);
});

/** Runs in a page before its scripts. IndexedDB opens, but no request is answered. */
const silent = () => {
  for (const name of /** @type {const} */ ([
    "get",
    "getAll",
    "count",
    "openCursor",
    "put",
  ])) {
    for (const { prototype } of [IDBObjectStore, IDBIndex]) {
      if (name in prototype)
        Object.assign(prototype, {
          [name]: () =>
            Object.assign(new EventTarget(), {
              result: undefined,
              error: null,
            }),
        });
    }
  }
};
/** Runs in a page before its scripts. IndexedDB never opens. */
const dead = () =>
  void (IDBFactory.prototype.open = () =>
    /** @type {any} */ (new EventTarget()));

for (const [what, before] of /** @type {const} */ ([
  ["never opens", dead],
  ["never answers a request", silent],
])) {
  test(`if IndexedDB ${what}, every wait of the package ends`, async (t) => {
    const page = await shelf.page(t, { before });
    const ends = await page.evaluate(async ([path, fen]) => {
      const database = await shelfish.openDatabase(path);
      const waits = {
        lookup: database.lookup(fen),
        "clear of the database": database.clear(),
      };
      return Object.fromEntries(
        await Promise.all(
          Object.entries(waits).map(async ([name, wait]) => [
            name,
            await wait.then(
              () => "done",
              (/** @type {Error} */ error) => error.message,
            ),
          ]),
        ),
      );
    }, /** @type {const} */ ([MANIFEST, START]));
    assert.deepEqual(ends, {
      lookup: "done",
      "clear of the database": "done",
    });
  });
}
