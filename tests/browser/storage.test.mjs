// IndexedDB: a cache that survives reloads, is bounded, and is optional.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { host, redirectToSigned } from "./support/host.mjs";
import { FLAGS, START, kept, lab, watch } from "./support/lab.mjs";
import { ATTACK, CHROMIUM, DUMPS } from "./support/paths.mjs";
import { truth } from "./support/truth.mjs";
import { LIMIT, withLimit, until } from "./support/until.mjs";

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

test("offline a position that was never fetched is a clear error", async (t) => {
  const page = await shelf.page(t, { allow: /ERR_INTERNET_DISCONNECTED/ });
  await lookUp(page, [START]);
  await kept(page, 2);
  await page.context().setOffline(true);
  const [codes, again] = await page.evaluate(async ([path, seen, unseen]) => {
    const database = await shelfish.openDatabase(path);
    const lost = await database
      .lookup(unseen)
      .catch((/** @type {any} */ error) => error.code);
    return [lost, (await database.lookup(seen))?.fen];
  }, /** @type {const} */ ([MANIFEST, START, "8/8/8/3k4/8/8/3K4/R7 w - -"]));
  assert.deepEqual([codes, again], ["network", START]);
});

test("the cache survives the end of the browser", async (t) => {
  const profile = mkdtempSync(join(tmpdir(), "shelfish-profile-"));
  t.after(() => rmSync(profile, { recursive: true, force: true }));
  for (const expected of [2, 1]) {
    const context = withLimit(
      await chromium.launchPersistentContext(profile, {
        executablePath: CHROMIUM,
        args: FLAGS,
      }),
    );
    const page = /** @type {import("./support/lab.mjs").Page} */ (
      await context.newPage()
    );
    watch(page);
    await page.goto(shelf.server.url);
    await shelf.load(page);
    await shelf.server.requests();
    assert.deepEqual((await lookUp(page, [START])).fens, [START]);
    assert.equal(
      (await shelf.server.requests()).filter(({ path }) =>
        path.startsWith("/db/"),
      ).length,
      expected,
    );
    await kept(page, 2);
    assert.deepEqual(page.console, []);
    await context.close();
  }
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

test("the cache can be turned off", async (t) => {
  const page = await shelf.page(t);
  await lookUp(page, [START], { indexedDB: false });
  assert.deepEqual(
    await page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name),
    ),
    [],
  );
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

test("the cache of a host that redirects each file to a signed address has the addresses before the redirect", async (t) => {
  const hub = await host(shelf.root);
  t.after(() => hub.close());
  redirectToSigned(hub);
  const page = await shelf.page(t);
  const url = `${hub.url}db/`;
  const look = () =>
    page.evaluate(async ([url, fen]) => {
      const database = await shelfish.openDatabase(url);
      const answer = await database.lookup(fen);
      const { indexedDBHits } = database.stats();
      return { fen: answer?.fen, indexedDBHits };
    }, /** @type {const} */ ([url, START]));
  assert.deepEqual(await look(), { fen: START, indexedDBHits: 0 });
  await kept(page, 2);
  await page.reload();
  await shelf.load(page);
  hub.requests.length = 0;
  assert.equal((await look()).fen, START);
  assert.deepEqual(
    hub.requests.filter(({ range }) => range),
    [],
    "the block is in the cache",
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

test("forged blocks in the cache are refused by a pinned database, and requested again", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "shelfish-attack-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync(ATTACK, ["write", dir]);
  const server = await host(join(dir, "forged"));
  t.after(() => server.close());
  const page = await shelf.page(t);
  const integrity = `sha256-${createHash("sha256")
    .update(readFileSync(join(dir, "honest/manifest.json")))
    .digest("base64")}`;
  const score = (/** @type {string | undefined} */ integrity) =>
    page.evaluate(async ([url, fen, integrity]) => {
      const database = await shelfish.openDatabase(
        url,
        integrity === undefined ? {} : { integrity },
      );
      try {
        return (await database.lookup(fen))?.best.pvs[0]?.score;
      } catch (error) {
        return /** @type {any} */ (error).code;
      } finally {
        database.close();
      }
    }, /** @type {const} */ ([server.url, START, integrity]));
  assert.notEqual(
    await score(undefined),
    "+5.20",
    "the checksums of the forged block are valid",
  );
  await kept(page, 2);
  assert.equal(
    await score(integrity),
    "integrity",
    "neither the cache nor the host has the block",
  );
  server.directory = join(dir, "honest");
  await page.reload();
  await shelf.load(page);
  assert.equal(await score(integrity), "+5.20");
  await kept(page, 3);
  const asked = server.requests.length;
  await page.reload();
  await shelf.load(page);
  assert.equal(await score(integrity), "+5.20");
  assert.equal(
    server.requests.slice(asked).filter(({ range }) => range).length,
    0,
    "the cache has the block and the list",
  );
});

test(
  "an open database does not block the deletion of its cache, and later lookups succeed",
  { timeout: 3 * LIMIT },
  async (t) => {
    const page = await shelf.page(t);
    await page.evaluate(
      async (path) =>
        void (globalThis.database = await shelfish.openDatabase(path)),
      MANIFEST,
    );
    assert.ok(await page.evaluate((fen) => database.lookup(fen), START));
    const outcome = await page.evaluate(async () => {
      const [{ name } = { name: "" }] = await indexedDB.databases();
      return new Promise((resolve) => {
        const request = indexedDB.deleteDatabase(String(name));
        request.onsuccess = () => resolve("deleted");
        request.onerror = () => resolve(String(request.error));
      });
    });
    assert.equal(outcome, "deleted");
    const answers = await page.evaluate(
      (fens) => database.lookupMany(fens),
      SPREAD,
    );
    assert.ok(answers.every((answer) => answer && "fen" in answer));
  },
);

test(
  "an aborted lookup does not stop later writes to the cache",
  { timeout: 3 * LIMIT },
  async (t) => {
    const page = await shelf.page(t);
    const code = await page.evaluate(async ([path, fen]) => {
      globalThis.database = await shelfish.openDatabase(path);
      const controller = new AbortController();
      const { get } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.get = function (key) {
        controller.abort();
        return get.call(this, key);
      };
      const { signal } = controller;
      const code = await database
        .lookup(fen, { signal })
        .catch((/** @type {any} */ error) => error.code);
      IDBObjectStore.prototype.get = get;
      return code;
    }, /** @type {const} */ ([MANIFEST, START]));
    assert.equal(code, "aborted");
    await page.evaluate(() => database.clear());
    assert.equal(await stored(page), 0);
    assert.ok(await page.evaluate((fen) => database.lookup(fen), START));
    await kept(page, 1);
  },
);

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

test("two tabs at once keep the limit of the cache, and find all positions", async (t) => {
  const page = await shelf.page(t);
  const other = await page.context().newPage();
  await other.goto(shelf.server.url);
  await shelf.load(other);
  const options = {
    indexedDB: { name: "small", bytes: 100_000 },
    memoryBytes: 0,
  };
  const reversed = [...SPREAD].reverse();
  for (let round = 0; round < 3; round++) {
    const [left, right] = await Promise.all([
      lookUp(page, SPREAD, options),
      lookUp(other, reversed, options),
    ]);
    assert.deepEqual([left.fens, right.fens], [SPREAD, reversed]);
  }
  const bytes = await stored(page);
  assert.ok(bytes > 0 && bytes <= 120_000, `${bytes} bytes`);
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

test("a tab with an older version of the cache blocks the new version, and lookups continue before and after it is closed", async (t) => {
  const page = await shelf.page(t);
  await lookUp(page, [START]);
  await kept(page, 2);
  const older = await page.context().newPage();
  await older.goto(shelf.server.url);
  await older.evaluate(async () => {
    const done = (/** @type {IDBOpenDBRequest} */ request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const [{ name } = { name: "" }] = await indexedDB.databases();
    await done(indexedDB.deleteDatabase(String(name)));
    // An older release keeps its connection, although another tab needs it closed.
    Object.assign(globalThis, {
      connection: await done(indexedDB.open(String(name), 1)),
    });
  });
  await page.reload();
  await shelf.load(page);
  await opened(page);
  await continues(page);
  assert.equal(await page.evaluate(() => database.stats().indexedDBHits), 0);
  await older.close();
  await until(async () => {
    await page.evaluate(async () => {
      database.clear();
      await database.lookup("8/8/8/4k3/8/4K3/4P3/8 w - -");
    });
    return (await stored(page)) > 0;
  }, "the cache is written after the older tab is closed");
  await continues(page);
});

test("a browser that evicts the storage of the origin does not stop an open database", async (t) => {
  const page = await shelf.page(t);
  await opened(page, { memoryBytes: 0 });
  await kept(page, 2);
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", {
    origin: new URL(shelf.server.url).origin,
    storageTypes: "all",
  });
  assert.equal(await stored(page), 0);
  await continues(page);
  await kept(page, SPREAD.length >> 1);
});

test("a tab that is frozen and thawed answers a lookup that was under way, and later ones", async (t) => {
  const page = await shelf.page(t);
  await opened(page, { memoryBytes: 0 });
  const session = await page.context().newCDPSession(page);
  const answers = page.evaluate((fens) => database.lookupMany(fens), SPREAD);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  const other = await page.context().newPage();
  await other.goto(shelf.server.url);
  await shelf.load(other);
  // Another tab changes and removes the cache while this tab is frozen.
  assert.deepEqual(
    (await lookUp(other, SPREAD, { memoryBytes: 0 })).fens,
    SPREAD,
  );
  await session.send("Page.setWebLifecycleState", { state: "active" });
  assert.deepEqual(
    (await answers).map((answer) => answer && "fen" in answer && answer.fen),
    SPREAD,
  );
  await continues(page);
});

test(
  "a flip or cut of any value in IndexedDB gives the right answer",
  { timeout: 10 * LIMIT },
  async (t) => {
    const flips = process.env.SHELFISH_LONG ? 4000 : 80;
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`${flips} flips and cuts in IndexedDB, with the seed ${seed}`);
    const page = await shelf.page(t);
    const fens = SPREAD.slice(0, 4);
    const { stats } = await lookUp(page, fens);
    await kept(page, 1 + stats.networkBlocks);
    const counts = await page.evaluate(async ([path, fens, flips, seed]) => {
      let state = seed;
      const random = (/** @type {number} */ below) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      const done = (/** @type {IDBRequest} */ request) =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const look = async () => {
        const database = await shelfish.openDatabase(path);
        const answers = JSON.stringify(await database.lookupMany(fens));
        const { indexedDBHits } = database.stats();
        database.close();
        return { answers, indexedDBHits };
      };
      const good = (await look()).answers;
      const [{ name } = { name: "" }] = await indexedDB.databases();
      /** @type {(value: any) => unknown} */
      const damaged = (value) => {
        if (typeof value === "number")
          return [NaN, -value, value * 2 ** random(60), "text", undefined][
            random(5)
          ];
        if (ArrayBuffer.isView(value)) {
          const bytes = new Uint8Array(value.buffer.slice(0));
          const at = random(bytes.length);
          if (random(5) === 0) return bytes.slice(0, at);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
          return bytes;
        }
        // The result of earlier damage.
        if (typeof value !== "object" || value === null) return random(1000);
        const fields = Object.keys(value);
        const field = String(fields[random(fields.length)]);
        return { ...value, [field]: damaged(value[field]) };
      };
      const counts = { right: 0, wrong: 0, hits: 0 };
      for (let n = 0; n < flips; n++) {
        const connection = /** @type {IDBDatabase} */ (
          await done(indexedDB.open(String(name)))
        );
        // Most damage is in the bytes; some is in the sizes and times of use, and in the sum of the sizes.
        const store =
          ["bytes", "bytes", "bytes", "bytes", "entries", "total"][random(6)] ??
          "bytes";
        const objects = connection
          .transaction(store, "readwrite")
          .objectStore(store);
        const keys = await done(objects.getAllKeys());
        const key = keys[random(keys.length)];
        if (key !== undefined)
          await done(objects.put(damaged(await done(objects.get(key))), key));
        connection.close();
        const { answers, indexedDBHits } = await look();
        counts[answers === good ? "right" : "wrong"]++;
        counts.hits += indexedDBHits;
      }
      return counts;
    }, /** @type {const} */ ([MANIFEST, fens, flips, seed]));
    console.log(
      `${flips} flips and cuts in IndexedDB: ${counts.right} right answers, ${counts.wrong} wrong, ${counts.hits} parts came from IndexedDB`,
    );
    assert.deepEqual([counts.right, counts.wrong], [flips, 0]);
    assert.ok(counts.hits > flips, "the other parts come from IndexedDB");
  },
);

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
      const [storage, { openEvaluator }] = await Promise.all([
        import(/** @type {any} */ ("/pkg/storage.js")),
        import(/** @type {any} */ ("/pkg/evaluator.js")),
      ]);
      const database = await shelfish.openDatabase(path);
      const found = {
        from: "engine",
        fen,
        depth: 9,
        knodes: 1,
        pvs: [{ cp: 1, score: "+0.01", uci: [] }],
      };
      const evaluator = openEvaluator({
        engine: {
          analyse: async () => found,
          analyseMany: async () => [found],
          close() {},
        },
        indexedDB: true,
      });
      const opening = storage.openStorage(
        "own",
        1,
        (/** @type {IDBDatabase} */ database) =>
          database.createObjectStore("a"),
      );
      const store = opening.then((/** @type {IDBDatabase} */ database) =>
        database.transaction("a", "readwrite").objectStore("a"),
      );
      const waits = {
        lookup: database.lookup(fen),
        "clear of the database": database.clear(),
        evaluate: evaluator.evaluate(fen, { depth: 9 }),
        evaluateMany: evaluator.evaluateMany([fen], { depth: 9 }),
        "clear of the evaluator": evaluator.clear(),
        requestResult: store.then((/** @type {IDBObjectStore} */ store) =>
          storage.requestResult(store.get(1)),
        ),
        eachEntry: store.then((/** @type {IDBObjectStore} */ store) =>
          storage.eachEntry(store.openCursor(), () => true),
        ),
        transactionEnd: opening.then((/** @type {IDBDatabase} */ database) =>
          storage.transactionEnd(
            Object.assign(new EventTarget(), { database }),
          ),
        ),
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
    const failed = "IndexedDB does not answer";
    assert.deepEqual(ends, {
      lookup: "done",
      "clear of the database": "done",
      evaluate: "done",
      evaluateMany: "done",
      "clear of the evaluator": "done",
      requestResult: failed,
      eachEntry: failed,
      transactionEnd: failed,
    });
  });

  test(`if IndexedDB ${what}, the engine plays from the book, and a finished game is shown`, async (t) => {
    const page = await shelf.page(t, { path: "site/play.html", before });
    await page.getByTestId("level").selectOption({ label: "Learner, 1000" });
    await page.getByTestId("start").click();
    await until(
      () =>
        page.evaluate(() =>
          /^Your move/.test(
            document.querySelector("[data-testid=status]")?.textContent ?? "",
          ),
        ),
      "the game begins",
    );
    for (const move of ["e4", "d4"]) {
      await page.keyboard.press("m");
      await page.keyboard.type(move);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await until(
        () =>
          page.evaluate(() =>
            /… \S+ Your move/.test(
              document.querySelector("[data-testid=status]")?.textContent ?? "",
            ),
          ),
        `the engine answers ${move}`,
      );
    }
  });

  test(`if IndexedDB ${what}, the list of games opens`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/",
      before,
      allow: /IndexedDB/,
    });
    await page.keyboard.press("g");
    await until(
      () => page.evaluate(() => !!document.querySelector("dialog[open]")),
      "the dialog opens",
    );
  });
}
