// IndexedDB with promises, for the stores of the package and the site. The entry `shelfish/storage`. No wait is endless: IndexedDB
// of Safari sometimes never answers.

/** Milliseconds until an IndexedDB that does not answer counts as failed. */
const TIMEOUT = 5_000;

/** Starts a wait, which `listen` settles. Rejects after five seconds without a call of `progress`. */
function limited<T>(
  listen: (
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
    progress: () => void,
  ) => void,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Promise<T>((resolve, reject) => {
    const progress = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => reject(new Error("IndexedDB does not answer")),
        TIMEOUT,
      );
    };
    progress();
    listen(resolve, reject, progress);
  });
  return waiting.finally(() => clearTimeout(timer));
}

const failed = (error: DOMException | null) =>
  error ?? new Error("IndexedDB failed");

/** Waits for the result of a request, at most five seconds. */
export function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return limited((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failed(request.error));
  });
}

/**
 * Waits for the end of a transaction: at most five seconds after the last result of its requests. The promise may be ignored: a caller sees the
 * error of a request first.
 */
export function transactionEnd(transaction: IDBTransaction): Promise<void> {
  const end = limited<void>((resolve, reject, progress) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(failed(transaction.error));
    // The results of requests do not bubble, but can be captured.
    transaction.addEventListener("success", progress, { capture: true });
  });
  end.catch(() => {});
  return end;
}

/** Moves a cursor forward while `next` returns true. Waits at most five seconds for each entry. */
export function eachEntry(
  request: IDBRequest<IDBCursorWithValue | null>,
  next: (cursor: IDBCursorWithValue) => boolean,
): Promise<void> {
  return limited((resolve, reject, progress) => {
    request.onsuccess = () => {
      progress();
      const cursor = request.result;
      if (cursor && next(cursor)) cursor.continue();
      else resolve();
    };
    request.onerror = () => reject(failed(request.error));
  });
}

/**
 * Opens a database of IndexedDB. `create` makes its object stores. Rejects if there is no IndexedDB, or if IndexedDB does
 * not answer within five seconds.
 */
export async function openStorage(
  name: string,
  version: number,
  create: (database: IDBDatabase) => void,
): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => create(request.result);
  try {
    const database = await requestResult(request);
    // Another tab may open a newer version.
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    // A late answer must not keep the database open.
    request.onsuccess = () => request.result.close();
    throw error;
  }
}
