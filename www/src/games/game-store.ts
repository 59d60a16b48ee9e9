/**
 * The games that were opened, kept in this browser: in IndexedDB, or in memory where there is none (private windows). A game
 * opened twice stands once; the oldest go when there are too many.
 */

/** What the list says of a game. */
export interface Entry {
  /** By moves and players. */
  readonly id: string;
  readonly white: string;
  readonly black: string;
  readonly event: string;
  /** As PGN writes it: "1999.01.20", "1972.??.??", or empty. */
  readonly date: string;
  readonly result: string;
  /** ECO code and name, as far as the headers say. */
  readonly opening: string;
  readonly plies: number;
  /** When it was opened last, in milliseconds since 1970; fractions keep the order of a file's games. */
  readonly opened: number;
  /** Characters of its text. */
  readonly size: number;
  /** Where it was fetched from: "lichess:ID". */
  readonly source?: string;
}

/** A game to keep. */
export interface Stored extends Entry {
  /** The game as PGN. */
  readonly text: string;
}

/** Games that were opened. */
export interface GameStore {
  /** Whether they are here tomorrow. */
  readonly isLasting: boolean;
  /** The games, those opened last first; at most `count`. */
  list(count?: number): Promise<Entry[]>;
  /** A game's text, by its id or source. */
  text(key: string): Promise<string | undefined>;
  /** Keeps games; of two copies of one the longer text stays. Gives how many others had to go. */
  keep(games: readonly Stored[]): Promise<number>;
  remove(id: string): Promise<void>;
  clear(): Promise<void>;
}

/** Most games that are kept, and most characters of their texts. */
const LIMITS = { games: 5_000, characters: 20_000_000 };

const NAME = "shelfish-games";

/** Opens the store of this browser. */
export async function openStore(limits = LIMITS): Promise<GameStore> {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      const list = request.result.createObjectStore("list", { keyPath: "id" });
      list.createIndex("opened", "opened");
      list.createIndex("source", "source");
      request.result.createObjectStore("texts");
    };
    const database = await result(request);
    // Another tab may have a newer version of this page.
    database.onversionchange = () => database.close();
    return new Database(database, limits);
  } catch {
    return new Memory(limits);
  }
}

class Database implements GameStore {
  readonly isLasting = true;

  constructor(
    private readonly database: IDBDatabase,
    private readonly limits: typeof LIMITS,
  ) {}

  async list(count = Infinity): Promise<Entry[]> {
    const index = this.database.transaction("list").objectStore("list").index("opened");
    if (count === Infinity) return (await result<Entry[]>(index.getAll())).reverse();
    const entries: Entry[] = [];
    await each(index.openCursor(null, "prev"), (cursor) => entries.push(cursor.value as Entry) < count);
    return entries;
  }

  async text(key: string): Promise<string | undefined> {
    const transaction = this.database.transaction(["list", "texts"]);
    const id = key.includes(":") ? await result(transaction.objectStore("list").index("source").getKey(key)) : key;
    return id === undefined ? undefined : result<string | undefined>(transaction.objectStore("texts").get(id));
  }

  async keep(games: readonly Stored[]): Promise<number> {
    const transaction = this.database.transaction(["list", "texts"], "readwrite");
    const [list, texts] = [transaction.objectStore("list"), transaction.objectStore("texts")];
    const done = completion(transaction);
    // A fault of a request shows in the transaction too, which is awaited last.
    done.catch(() => {});
    for (const game of games) {
      const before = await result<Entry | undefined>(list.get(game.id));
      const { text, ...entry } = game;
      if (before && before.size > game.size) list.put({ ...before, opened: game.opened, ...(game.source ? { source: game.source } : {}) });
      else {
        list.put(entry);
        texts.put(text, game.id);
      }
    }
    const old = excess((await result<Entry[]>(list.index("opened").getAll())).reverse(), this.limits);
    for (const { id } of old) {
      list.delete(id);
      texts.delete(id);
    }
    await done;
    return old.length;
  }

  async remove(id: string): Promise<void> {
    const transaction = this.database.transaction(["list", "texts"], "readwrite");
    transaction.objectStore("list").delete(id);
    transaction.objectStore("texts").delete(id);
    await completion(transaction);
  }

  async clear(): Promise<void> {
    const transaction = this.database.transaction(["list", "texts"], "readwrite");
    transaction.objectStore("list").clear();
    transaction.objectStore("texts").clear();
    await completion(transaction);
  }
}

class Memory implements GameStore {
  readonly isLasting = false;
  readonly #games = new Map<string, Stored>();

  constructor(private readonly limits: typeof LIMITS) {}

  async list(count = Infinity): Promise<Entry[]> {
    return [...this.#games.values()].sort((a, b) => b.opened - a.opened).slice(0, count);
  }

  async text(key: string): Promise<string | undefined> {
    return (this.#games.get(key) ?? [...this.#games.values()].find(({ source }) => source === key))?.text;
  }

  async keep(games: readonly Stored[]): Promise<number> {
    for (const game of games) {
      const before = this.#games.get(game.id);
      this.#games.set(game.id, before && before.size > game.size ? { ...before, opened: game.opened, ...(game.source ? { source: game.source } : {}) } : game);
    }
    const old = excess(await this.list(), this.limits);
    for (const { id } of old) this.#games.delete(id);
    return old.length;
  }

  async remove(id: string): Promise<void> {
    this.#games.delete(id);
  }

  async clear(): Promise<void> {
    this.#games.clear();
  }
}

/** The games beyond the limits; `entries` have those opened last first. */
function excess(entries: readonly Entry[], limits: typeof LIMITS): Entry[] {
  let characters = 0;
  const kept = entries.findIndex(({ size }, index) => index >= limits.games || (characters += size) > limits.characters);
  return kept === -1 ? [] : entries.slice(kept);
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}

function completion(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("IndexedDB aborted"));
  });
}

/** Goes along a cursor while `next` gives true. */
function each(request: IDBRequest<IDBCursorWithValue | null>, next: (cursor: IDBCursorWithValue) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor && next(cursor)) cursor.continue();
      else resolve();
    };
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}
