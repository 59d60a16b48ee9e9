// Stores the results of engines in IndexedDB. If the store fails, the engine is asked.

import { eachEntry, openStorage, requestResult } from "../shared/indexed-db.js";

/** A store of results. */
export interface ResultStore<Result> {
  get(key: string): Promise<Result | undefined>;
  put(key: string, found: Result): void;
  clear(): Promise<void>;
  close(): void;
}

const NAME = "evaluations";

/** Opens a store with a maximum number of results. It removes the oldest results first. */
export function openResultStore<Result>(
  name: string,
  maximum: number,
): ResultStore<Result> | undefined {
  if (typeof indexedDB === "undefined") return undefined;
  const opening = openStorage(name, 1, (database) =>
    database
      .createObjectStore(NAME, { keyPath: "key" })
      .createIndex("at", "at"),
  );
  opening.catch(() => {});
  const store = async (mode: IDBTransactionMode) =>
    (await opening).transaction(NAME, mode).objectStore(NAME);

  async function put(key: string, found: Result): Promise<void> {
    const entries = await store("readwrite");
    entries.put({ key, at: Date.now(), found });
    const count = await requestResult(entries.count());
    if (count <= maximum) return;
    // Removes a tenth, so that few calls remove entries.
    let excess = count - Math.floor(maximum * 0.9);
    await eachEntry(entries.index("at").openCursor(), (cursor) => {
      cursor.delete();
      return --excess > 0;
    });
  }

  return {
    get: async (key) => {
      try {
        return (await requestResult((await store("readonly")).get(key)))?.found;
      } catch {
        return undefined;
      }
    },
    put: (key, found) => void put(key, found).catch(() => {}),
    clear: async () => {
      try {
        await requestResult((await store("readwrite")).clear());
      } catch {
        // A store that cannot be opened is empty.
      }
    },
    close: () =>
      void opening.then(
        (database) => database.close(),
        () => {},
      ),
  };
}
