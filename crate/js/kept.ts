// What engines found, in a database of IndexedDB of its own. Whatever goes wrong there, the engine is asked.

import type { Evaluated } from "./evaluator.js";

type Found = Evaluated & { milliseconds?: number };

/** A store of evaluations. */
export interface Kept {
  get(key: string): Promise<Found | undefined>;
  put(key: string, found: Found): void;
  clear(): Promise<void>;
  close(): void;
}

const STORE = "evaluations";

const done = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as Error);
  });

/** The store of a name, with so many positions at most; the oldest go first. `undefined` where there is no IndexedDB. */
export function keeper(name: string, positions: number): Kept | undefined {
  if (typeof indexedDB === "undefined") return undefined;
  const opening = (async () => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "key" }).createIndex("at", "at");
    const database = await done(request);
    database.onversionchange = () => database.close();
    return database;
  })();
  opening.catch(() => {});
  const store = async (mode: IDBTransactionMode) => (await opening).transaction(STORE, mode).objectStore(STORE);
  return {
    get: async (key) => {
      try {
        return (await done((await store("readonly")).get(key)))?.found;
      } catch {
        return undefined;
      }
    },
    put: (key, found) => {
      const work = async () => {
        const entries = await store("readwrite");
        entries.put({ key, at: Date.now(), found });
        const count = await done(entries.count());
        if (count <= positions) return;
        // A tenth at once, so that not every evaluation looks for one.
        let rest = count - Math.floor(positions * 0.9);
        const oldest = entries.index("at").openCursor();
        oldest.onsuccess = () => {
          const cursor = oldest.result;
          if (!cursor || rest-- <= 0) return;
          cursor.delete();
          cursor.continue();
        };
      };
      work().catch(() => {});
    },
    clear: async () => {
      try {
        await done((await store("readwrite")).clear());
      } catch {
        // What cannot be opened keeps nothing.
      }
    },
    close: () => void opening.then((database) => database.close(), () => {}),
  };
}
