/** IndexedDB with promises. */

/** Opens a database; `create` makes the object stores of a new one. Rejects if the browser has no IndexedDB or forbids it. */
export async function openDatabase(name: string, create: (database: IDBDatabase) => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => create(request.result);
  const database = await resultOf(request);
  // Another tab may have a newer version of this page.
  database.onversionchange = () => database.close();
  return database;
}

/** Waits for a request and returns its result. */
export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the IndexedDB request failed"));
  });
}

/** Waits until a transaction is committed. */
export function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the IndexedDB transaction was aborted"));
  });
}

/** Moves a cursor forward as long as `visit` returns true. */
export function visitAll(request: IDBRequest<IDBCursorWithValue | null>, visit: (cursor: IDBCursorWithValue) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor && visit(cursor)) cursor.continue();
      else resolve();
    };
    request.onerror = () => reject(request.error ?? new Error("the IndexedDB request failed"));
  });
}
