// The cache in IndexedDB. Whether an entry is right is for the WASM module to judge.

/** Milliseconds after which what IndexedDB did not answer is not there. */
const PATIENCE = 1000;
/** Milliseconds that a write waits for the lookup that caused it to go on. */
const PAUSE = 20;
/** Writes that may wait; further ones are dropped. */
const QUEUE = 512;
/** Version of the layout of stores and names; what another one left is dropped. */
const VERSION = 2;

const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Why a transaction was not committed; nothing if it was. */
const commit = (transaction) =>
  new Promise((resolve) => {
    transaction.oncomplete = () => resolve(undefined);
    transaction.onabort = () => resolve(transaction.error ?? new Error("aborted"));
  });

/** A size that was kept, which others may have damaged; NaN if it is none. */
const size = (value) => (typeof value === "number" && value >= 0 ? value : NaN);

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Bytes of one database by name in IndexedDB, bounded, the least recently used ones go first.
 *
 * Databases share the store and its bound, but every name begins with the folder of the database: bytes belong to where
 * they came from, so that no host can answer for another, whatever names it gives to its files.
 *
 * Three stores: `bytes` by name; `entries`, the size and last use of each, with an index by last use; and `total`, the
 * sum of all sizes, so that any number of tabs keep to one bound: whatever changes does so in one transaction.
 *
 * Browsers take IndexedDB away: private windows refuse it, Safari drops connections and sometimes never answers. So
 * a connection that fails is opened again at the next use, one that cannot be opened is not tried again, and nothing
 * is waited for beyond `PATIENCE`. Writes are queued, wait for reads and go one entry at a time, so that no lookup
 * waits for them. No method throws or rejects. What is kept is not believed: an entry of another type is none, and where
 * sizes do not add up the cache begins anew.
 */
export class Store {
  #name;
  #folder;
  #capacity;
  #connection;
  #queue = [];
  /** Settles when the queue is empty. */
  #writing;
  #reads = 0;
  #stuck = false;

  constructor(name, bytes, folder) {
    this.#name = name;
    this.#folder = folder;
    this.#capacity = bytes;
    // Opens while the manifest is on its way.
    this.#connect();
  }

  /** What is kept under each name, `undefined` where there is nothing; an empty array if there is no telling. */
  async get(names) {
    if (this.#stuck) return [];
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE)));
    const keys = names.map((name) => this.#key(name));
    const reading = this.#read(keys);
    const found = await Promise.race([reading, late]);
    clearTimeout(timer);
    if (found === undefined) {
      this.#stuck = true;
      reading.then(() => (this.#stuck = false));
      return [];
    }
    keys.forEach((key, n) => found[n] && this.#later(() => this.#touch(key)));
    return found;
  }

  /** Keeps a copy of `bytes`; `longest`: as long as there is anything else to give up. */
  put(name, bytes, longest) {
    const copy = bytes.slice();
    this.#later(() => this.#put(this.#key(name), copy, longest ? Infinity : Date.now()));
  }

  remove(name) {
    const key = this.#key(name);
    this.#later(() =>
      this.#change(async ({ bytes, entries, total }) => {
        const entry = await answer(entries.get(key));
        const sum = size(await answer(total.get(0)));
        bytes.delete(key);
        entries.delete(key);
        if (entry) total.put(sum - size(entry.size), 0);
      }),
    );
  }

  /** No URL has a space in it, so that no folder and name are those of another. */
  #key(name) {
    return `${this.#folder} ${name}`;
  }

  /** Closes the connection; what is queued is still written, by a new one. */
  close() {
    this.#disconnect();
  }

  #connect() {
    this.#connection ??= this.#open().catch(() => undefined);
    return this.#connection;
  }

  async #open() {
    const request = globalThis.indexedDB.open(this.#name, VERSION);
    request.onupgradeneeded = () => {
      const database = request.result;
      for (const former of [...database.objectStoreNames]) database.deleteObjectStore(former);
      database.createObjectStore("bytes");
      database.createObjectStore("entries").createIndex("used", "used");
      database.createObjectStore("total");
    };
    const database = await answer(request);
    // The browser closed it, or another tab needs it closed.
    database.onclose = database.onversionchange = () => this.#disconnect();
    return database;
  }

  /** Has the next use open a new connection, if there was one. */
  #disconnect() {
    const connection = this.#connection;
    connection?.then((database) => {
      database?.close();
      if (database && this.#connection === connection) this.#connection = undefined;
    });
    return connection;
  }

  async #read(keys) {
    this.#reads += 1;
    try {
      // A connection that was lost is noticed when it is used.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const database = await this.#connect();
        if (!database) break;
        try {
          const store = database.transaction("bytes").objectStore("bytes");
          const found = await Promise.all(keys.map((key) => answer(store.get(key))));
          return found.map((value) => (value instanceof Uint8Array ? value : undefined));
        } catch {
          await this.#disconnect();
        }
      }
      return [];
    } finally {
      this.#reads -= 1;
    }
  }

  #later(change) {
    if (this.#queue.length < QUEUE) this.#queue.push(change);
    this.#writing ??= this.#write();
  }

  async #write() {
    while (this.#queue.length > 0) {
      await pause(PAUSE);
      while (this.#queue.length > 0 && this.#reads === 0) {
        await this.#queue.shift()().catch(() => this.#disconnect());
      }
    }
    this.#writing = undefined;
  }

  /** Waits until all that was to be written is. */
  async written() {
    while (this.#writing) await this.#writing;
  }

  async #change(change) {
    const database = await this.#connect();
    if (!database) return;
    const transaction = database.transaction(["bytes", "entries", "total"], "readwrite");
    const [bytes, entries, total] = ["bytes", "entries", "total"].map((name) => transaction.objectStore(name));
    const committed = commit(transaction);
    await change({ bytes, entries, total });
    // The disk or the origin's share of it is full: make do with less from now on.
    if ((await committed)?.name === "QuotaExceededError") this.#capacity /= 2;
  }

  #touch(key) {
    return this.#change(async ({ entries }) => {
      const entry = await answer(entries.get(key));
      if (entry && entry.used !== Infinity) entries.put({ ...entry, used: Date.now() }, key);
    });
  }

  async #put(key, value, used) {
    if (value.length > this.#capacity) return;
    await this.#change(async ({ bytes, entries, total }) => {
      const former = await answer(entries.get(key));
      const told = await answer(total.get(0));
      let sum = size(told === undefined ? 0 : told) - (former ? size(former.size) : 0);
      entries.delete(key);
      const isFull = () => !(sum + value.length <= this.#capacity);
      if (isFull()) {
        const oldest = entries.index("used").openCursor();
        let cursor;
        for (; isFull() && (cursor = await answer(oldest)); cursor.continue()) {
          sum -= size(cursor.value.size);
          bytes.delete(cursor.primaryKey);
          cursor.delete();
        }
        // Nothing is left that has a size, so what there is does not add up.
        if (!cursor && isFull()) {
          bytes.clear();
          entries.clear();
          sum = 0;
        }
      }
      bytes.put(value, key);
      entries.put({ size: value.length, used }, key);
      total.put(sum + value.length, 0);
    });
  }
}
