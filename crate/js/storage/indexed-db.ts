// IndexedDB with promises, for the stores of the package and the site. The entry `shelfish/storage`.

/** Milliseconds until an IndexedDB that does not answer counts as missing. */
const TIMEOUT = 5_000;

/** Waits for the result of a request. */
export function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}

/** Waits for the end of a transaction. */
export function transactionEnd(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("IndexedDB aborted"));
  });
}

/** Moves a cursor forward while `next` returns true. */
export function eachEntry(request: IDBRequest<IDBCursorWithValue | null>, next: (cursor: IDBCursorWithValue) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor && next(cursor)) cursor.continue();
      else resolve();
    };
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}

/**
 * Opens a database of IndexedDB. `create` makes its object stores. Rejects if there is no IndexedDB, or if IndexedDB does
 * not answer within five seconds.
 */
export async function openStorage(name: string, version: number, create: (database: IDBDatabase) => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => create(request.result);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("IndexedDB does not answer")), TIMEOUT);
  });
  const opening = requestResult(request);
  try {
    const database = await Promise.race([opening, timeout]);
    // Another tab may open a newer version.
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    // A late answer must not keep the database open.
    opening.then((database) => database.close(), () => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
