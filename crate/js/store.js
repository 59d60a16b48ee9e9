// The cache in IndexedDB. Whether an entry is right is for the WASM module to judge.

/** Milliseconds after which what IndexedDB did not answer is not there. */
const PATIENCE = 1000;
/** Milliseconds that a write waits for the lookup that caused it to go on. */
const PAUSE = 20;
/** Writes that may wait; further ones are dropped. */
const QUEUE = 512;
/** Version of the layout of stores. */
const VERSION = 1;

const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const commit = (transaction) =>
  new Promise((resolve) => {
    transaction.oncomplete = () => resolve(true);
    transaction.onabort = () => resolve(false);
  });

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Bytes by name in IndexedDB, bounded, the least recently used ones go first.
 *
 * Three stores: `bytes` by name; `entries`, the size and last use of each, with an index by last use; and `total`, the
 * sum of all sizes, so that any number of tabs keep to one bound: whatever changes does so in one transaction.
 *
 * Browsers take IndexedDB away: private windows refuse it, Safari drops connections and sometimes never answers. So
 * a connection that fails is opened again at the next use, one that cannot be opened is not tried again, and nothing
 * is waited for beyond `PATIENCE`. Writes are queued, wait for reads and go one entry at a time, so that no lookup
 * waits for them. No method throws or rejects.
 */
export class Store {
  #name;
  #capacity;
  #connection;
  #queue = [];
  #writing = false;
  #reads = 0;
  #stuck = false;

  constructor(name, bytes) {
    this.#name = name;
    this.#capacity = bytes;
    // Opens while the manifest is on its way.
    this.#connect();
  }

  /** What is kept under each name, `undefined` where there is nothing; an empty array if there is no telling. */
  async get(names) {
    if (this.#stuck) return [];
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE)));
    const reading = this.#read(names);
    const found = await Promise.race([reading, late]);
    clearTimeout(timer);
    if (found === undefined) {
      this.#stuck = true;
      reading.then(() => (this.#stuck = false));
      return [];
    }
    names.forEach((name, n) => found[n] && this.#later(() => this.#touch(name)));
    return found;
  }

  /** Keeps a copy of `bytes`; `longest`: as long as there is anything else to give up. */
  put(name, bytes, longest) {
    const copy = bytes.slice();
    this.#later(() => this.#put(name, copy, longest ? Infinity : Date.now()));
  }

  remove(name) {
    this.#later(() =>
      this.#change(async ({ bytes, entries, total }) => {
        const size = (await answer(entries.get(name)))?.size ?? 0;
        const sum = (await answer(total.get(0))) ?? 0;
        bytes.delete(name);
        entries.delete(name);
        total.put(sum - size, 0);
      }),
    );
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

  async #read(names) {
    this.#reads += 1;
    try {
      // A connection that was lost is noticed when it is used.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const database = await this.#connect();
        if (!database) break;
        try {
          const store = database.transaction("bytes").objectStore("bytes");
          return await Promise.all(names.map((name) => answer(store.get(name))));
        } catch {
          await this.#disconnect();
        }
      }
      return [];
    } finally {
      this.#reads -= 1;
    }
  }

  async #later(change) {
    if (this.#queue.length < QUEUE) this.#queue.push(change);
    if (this.#writing) return;
    this.#writing = true;
    while (this.#queue.length > 0) {
      await pause(PAUSE);
      while (this.#queue.length > 0 && this.#reads === 0) {
        await this.#queue.shift()().catch(() => this.#disconnect());
      }
    }
    this.#writing = false;
  }

  async #change(change) {
    const database = await this.#connect();
    if (!database) return;
    const transaction = database.transaction(["bytes", "entries", "total"], "readwrite");
    const [bytes, entries, total] = ["bytes", "entries", "total"].map((name) => transaction.objectStore(name));
    const committed = commit(transaction);
    await change({ bytes, entries, total });
    // The disk or the origin's share of it is full: make do with less from now on.
    if (!(await committed)) this.#capacity /= 2;
  }

  #touch(name) {
    return this.#change(async ({ entries }) => {
      const entry = await answer(entries.get(name));
      if (entry && entry.used !== Infinity) entries.put({ ...entry, used: Date.now() }, name);
    });
  }

  async #put(name, value, used) {
    if (value.length > this.#capacity) return;
    await this.#change(async ({ bytes, entries, total }) => {
      const size = value.length;
      const former = await answer(entries.get(name));
      let sum = ((await answer(total.get(0))) ?? 0) - (former?.size ?? 0);
      entries.delete(name);
      if (sum + size > this.#capacity) {
        const oldest = entries.index("used").openCursor();
        for (let cursor; sum + size > this.#capacity && (cursor = await answer(oldest)); cursor.continue()) {
          sum -= cursor.value.size;
          bytes.delete(cursor.primaryKey);
          cursor.delete();
        }
      }
      bytes.put(value, name);
      entries.put({ size, used }, name);
      total.put(sum + size, 0);
    });
  }
}
