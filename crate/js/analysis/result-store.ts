// Stores the results of engines in IndexedDB. If the store fails, the engine is asked.

import { eachEntry, openStorage, requestResult } from "../shared/indexed-db.js";
import type { KnownEval } from "./types.js";

const NAME = "evaluations";

/** A store of the results of sequences. */
export interface ResultStore {
  get(key: string): Promise<readonly KnownEval[] | undefined>;
  put(key: string, found: readonly KnownEval[]): void;
  close(): void;
}

/** Opens a store with a maximum number of results. It removes the oldest results first. */
export function openResultStore(
  name: string,
  maximum: number,
): ResultStore | undefined {
  if (typeof indexedDB === "undefined") return undefined;
  const opening = openStorage(name, 1, (database) =>
    database
      .createObjectStore(NAME, { keyPath: "key" })
      .createIndex("at", "at"),
  );
  const store = async (mode: IDBTransactionMode) =>
    (await opening).transaction(NAME, mode).objectStore(NAME);

  async function put(key: string, found: readonly KnownEval[]): Promise<void> {
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
  const nothing = () => undefined;
  return {
    get: (key) =>
      store("readonly")
        .then((entries) => requestResult(entries.get(key)))
        .then((entry) => entry?.found, nothing),
    put: (key, found) => void put(key, found).catch(nothing),
    close: () => void opening.then((database) => database.close(), nothing),
  };
}
