// The cache in IndexedDB, on an IndexedDB in memory: it is bounded and shared, and never delays a lookup.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { IDBFactory } from "fake-indexeddb";
import "fake-indexeddb/auto";
import { ROOT } from "../browser/support/paths.mjs";

/**
 * @typedef {object} Store
 * @property {(names: string[]) => Promise<(Uint8Array | undefined)[]>} get
 * @property {(name: string, bytes: Uint8Array, longest: boolean) => void} put
 * @property {(name: string) => void} remove
 * @property {() => void} clear
 * @property {() => Promise<void>} written
 * @property {() => void} close
 */

/** @type {{ Cache: new (name: string, bytes: number, folder: string) => Store }} */
const { Cache: Store } = createRequire(import.meta.url)(
  join(ROOT, "target/npm-cache/cache.js"),
);

const FOLDER = "https://example.org/db/";

afterEach(() => void (globalThis.indexedDB = new IDBFactory()));

const bytes = (/** @type {number} */ length, fill = 1) =>
  new Uint8Array(length).fill(fill);

/** Returns the names of the cached entries. */
async function kept(
  /** @type {Store} */ store,
  /** @type {string[]} */ ...names
) {
  const found = await store.get(names);
  return names.filter((_, n) => found[n]);
}

/** Waits until all entries are written. */
const written = (/** @type {Store[]} */ ...stores) =>
  Promise.all(stores.map((store) => store.written()));

test("an entry is there for the next connection", async () => {
  const store = new Store("a", 100, FOLDER);
  assert.deepEqual(await store.get(["x", "y"]), [undefined, undefined]);
  const value = bytes(10, 7);
  store.put("x", value, false);
  value.fill(0);
  await written(store);
  assert.deepEqual(await store.get(["y", "x"]), [undefined, bytes(10, 7)]);
  assert.deepEqual(await new Store("a", 100, FOLDER).get(["x"]), [
    bytes(10, 7),
  ]);
  assert.deepEqual(await new Store("b", 100, FOLDER).get(["x"]), [undefined]);
  store.remove("x");
  await written(store);
  assert.deepEqual(await kept(store, "x"), []);
});

test("entries of a database are not visible to another database", async () => {
  const store = new Store("a", 100, FOLDER);
  store.put("x", bytes(10, 7), false);
  await written(store);
  for (const folder of [
    "https://example.org/",
    "https://example.org/db/x/",
    "https://example.com/db/",
  ]) {
    const other = new Store("a", 100, folder);
    assert.deepEqual(await kept(other, "x", "db/ x", " x"), [], folder);
    other.remove("x");
    await written(other);
  }
  assert.deepEqual(await store.get(["x"]), [bytes(10, 7)]);
});

test("clearing removes the entries of a database, and their sizes", async () => {
  const [store, other] = [
    new Store("a", 100, FOLDER),
    new Store("a", 100, "https://example.org/db!/"),
  ];
  for (const name of ["x", "y", "z"]) store.put(name, bytes(20), name === "z");
  other.put("x", bytes(20), false);
  await written(store, other);
  store.clear();
  await written(store);
  assert.deepEqual(
    [await kept(store, "x", "y", "z"), await kept(other, "x")],
    [[], ["x"]],
  );
  store.put("large", bytes(80), false);
  await written(store);
  assert.deepEqual(
    [await kept(store, "large"), await kept(other, "x")],
    [["large"], ["x"]],
  );
});

test("clearing removes entries although the queue is full", async () => {
  const store = new Store("a", 100, FOLDER);
  store.put("x", bytes(10), false);
  await written(store);
  for (let n = 0; n < 600; n += 1) store.put("y", bytes(10), false);
  store.clear();
  await written(store);
  assert.deepEqual(await kept(store, "x", "y"), []);
});

test("entries of an earlier version are removed", async () => {
  await new Promise((resolve) => {
    const request = indexedDB.open("a", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("bytes").put(bytes(10), "x");
      request.result.createObjectStore("entries").createIndex("used", "used");
      request.result.createObjectStore("total").put(10, 0);
    };
    request.onsuccess = () => {
      request.result.close();
      resolve(undefined);
    };
  });
  const store = new Store("a", 100, FOLDER);
  store.put("y", bytes(95), false);
  await written(store);
  assert.deepEqual(await kept(store, "x", "y"), ["y"]);
});

test("the least recently used entry is removed first, and an entry to keep longest last", async () => {
  const store = new Store("a", 100, FOLDER);
  store.put("manifest", bytes(20), true);
  for (const name of ["a", "b", "c", "d"]) {
    store.put(name, bytes(20), false);
    await written(store);
  }
  assert.deepEqual(await kept(store, "a"), ["a"]);
  await written(store);
  store.put("e", bytes(30), false);
  await written(store);
  assert.deepEqual(await kept(store, "manifest", "a", "b", "c", "d", "e"), [
    "manifest",
    "a",
    "d",
    "e",
  ]);
  store.put("huge", bytes(101), false);
  store.put("whole", bytes(100), false);
  await written(store);
  assert.deepEqual(
    await kept(store, "manifest", "a", "d", "e", "huge", "whole"),
    ["whole"],
  );
});

test("tabs that share a name share the limit", async () => {
  const tabs = [new Store("a", 100, FOLDER), new Store("a", 100, FOLDER)];
  const names = Array.from({ length: 20 }, (_, n) => `n${n}`);
  names.forEach((name, n) => tabs[n % 2]?.put(name, bytes(10), false));
  await written(...tabs);
  const there = await kept(/** @type {Store} */ (tabs[0]), ...names);
  assert.equal(there.length, 10);
  assert.ok(["n18", "n19"].every((name) => there.includes(name)));
});

/** Changes the cached entries in a way that no version of this store does. */
async function damage(
  /** @type {(stores: Record<string, IDBObjectStore>) => void} */ change,
) {
  const database = await new Promise((resolve) => {
    const request = indexedDB.open("a");
    request.onsuccess = () => resolve(request.result);
  });
  const transaction = database.transaction(
    ["bytes", "entries", "total"],
    "readwrite",
  );
  const store = (/** @type {string} */ name) => transaction.objectStore(name);
  change({
    bytes: store("bytes"),
    entries: store("entries"),
    total: store("total"),
  });
  await new Promise((resolve) => (transaction.oncomplete = resolve));
  database.close();
}

test("an entry of a wrong type is missing, and is replaced", async () => {
  for (const value of ["text", 7, { length: 3 }, new ArrayBuffer(3), null]) {
    const store = new Store("a", 100, FOLDER);
    store.put("x", bytes(10), false);
    await written(store);
    await damage(({ bytes }) => void bytes?.put(value, `${FOLDER} x`));
    assert.deepEqual(await store.get(["x"]), [undefined]);
    store.put("x", bytes(10, 7), false);
    await written(store);
    assert.deepEqual(await store.get(["x"]), [bytes(10, 7)]);
    store.close();
  }
});

test("damaged sizes neither remove the limit nor disable the cache", async () => {
  for (const sum of ["much", NaN, -1e9, 1e12, null, {}]) {
    const store = new Store("a", 100, FOLDER);
    store.put("x", bytes(10), false);
    await written(store);
    await damage(({ total }) => void total?.put(sum, 0));
    for (let n = 0; n < 15; n += 1) store.put(`n${n}`, bytes(10), false);
    await written(store);
    const names = Array.from({ length: 15 }, (_, n) => `n${n}`);
    const there = await kept(store, "x", ...names);
    assert.ok(there.includes("n14") && there.length <= 10, `${sum}: ${there}`);
    store.close();
    globalThis.indexedDB = new IDBFactory();
  }
});

test("a transaction that is aborted for another reason than space does not shrink the cache", async () => {
  const store = new Store("a", 100, FOLDER);
  store.put("x", bytes(10), false);
  await written(store);
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...args) {
    const request = put.apply(this, args);
    this.transaction.abort();
    return request;
  };
  store.put("y", bytes(10), false);
  await written(store);
  IDBObjectStore.prototype.put = put;
  store.put("z", bytes(90), false);
  await written(store);
  assert.deepEqual(await kept(store, "x", "y", "z"), ["x", "z"]);
});

test("a connection that is lost is opened again", async () => {
  const store = new Store("a", 100, FOLDER);
  store.put("x", bytes(10), false);
  await written(store);
  // A tab that upgrades the database closes the connections of all tabs.
  await new Promise((resolve) => (indexedDB.open("a", 3).onsuccess = resolve));
  assert.deepEqual(await kept(store, "x"), []);

  const other = new Store("b", 100, FOLDER);
  other.put("x", bytes(10), false);
  await written(other);
  other.close();
  assert.deepEqual(await kept(other, "x"), ["x"]);
});

test("a missing or refusing IndexedDB is an empty cache without an error", async () => {
  const refusing = { open: () => assert.fail("SecurityError") };
  for (const broken of [undefined, refusing]) {
    Object.assign(globalThis, { indexedDB: broken });
    const store = new Store("a", 100, FOLDER);
    store.put("x", bytes(10), false);
    store.remove("x");
    await written(store);
    assert.deepEqual(await kept(store, "x"), []);
    store.close();
  }
});

test("an IndexedDB that never answers delays only once and briefly", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, { indexedDB: { open: () => new EventTarget() } });
  const store = new Store("a", 100, FOLDER);
  const found = store.get(["x"]);
  // Wait until the request is pending.
  await new Promise(setImmediate);
  t.mock.timers.tick(1000);
  assert.deepEqual(await found, []);
  // No more time passes.
  assert.deepEqual(await store.get(["x"]), []);
});

test("writes to an IndexedDB that never answers end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, { indexedDB: { open: () => new EventTarget() } });
  const store = new Store("a", 100, FOLDER);
  store.put("x", bytes(10), false);
  const found = store.get(["x"]);
  let isWritten = false;
  void store.written().then(() => (isWritten = true));
  for (let seconds = 0; seconds < 20 && !isWritten; seconds += 1) {
    // Wait until the request is pending.
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  await new Promise(setImmediate);
  assert.ok(isWritten);
  assert.deepEqual(await found, []);
  // No more time passes.
  store.put("y", bytes(10), false);
  await written(store);
});
