/** Access to the database: opened when first needed, and again after a failure; every answer comes with its cost. */
import { type Database, type FetchedRange, openDatabase, type PositionEval, ShelfishError, type Stats } from "shelfish";
import { type Cost, spent } from "./cost";
import { fetchEarly } from "../loading/early-fetch";
import { loadOnce } from "../loading/load-once";

/** A failure in words: what happened, and what to do about it. */
export interface Explanation {
  title: string;
  advice: string;
}

/** A client of one database. */
export class DatabaseClient {
  /** What the database says of itself, once it is open. */
  manifest: Database["manifest"] | undefined;
  /** Hears of all that is read. */
  onRequest: ((request: FetchedRange) => void) | undefined;
  /** Hears what the database counts, after each lookup. */
  onAnswer: ((stats: Stats, manifest: Database["manifest"]) => void) | undefined;

  /** `url` is the manifest's; the cache in IndexedDB may take some megabytes, 0: there is none. */
  constructor(
    readonly url: URL,
    private readonly cache: number,
  ) {}

  /** Opens the database, once; a failed attempt is forgotten, so that the next call tries again. */
  readonly open = loadOnce(async () => {
    const database = await openDatabase(this.url, {
      fetch: fetchEarly,
      indexedDB: this.cache > 0 && { bytes: this.cache * 2 ** 20 },
      onRequest: (request: FetchedRange) => this.onRequest?.(request),
    });
    this.manifest = database.manifest;
    return database;
  });

  /** Forgets what is kept of this database. */
  async clear(): Promise<void> {
    await (await this.open()).clear();
  }

  /** The evaluation of one position, null if it is not there. */
  async lookup(fen: string, signal: AbortSignal): Promise<{ answer: PositionEval | null; cost: Cost }> {
    const database = await this.open();
    signal.throwIfAborted();
    const work = () => database.lookup(fen, { signal, castling: "chess960" }).catch(unlessOver);
    const [answer, cost] = await this.#metered(database, work);
    return { answer, cost };
  }

  /** Looks many positions up with one call. Positions whose lookup failed are left out: they may be in the database. */
  async lookupMany(fens: string[], signal: AbortSignal): Promise<{ answers: (readonly [fen: string, answer: PositionEval | null])[]; cost: Cost }> {
    const database = await this.open();
    signal.throwIfAborted();
    const [results, cost] = await this.#metered(database, () => database.lookupMany(fens, { signal, castling: "chess960" }));
    const answers = results.flatMap((result, index) => {
      const fen = fens[index] ?? "";
      if (result instanceof ShelfishError) return isOver(result) ? [[fen, null] as const] : [];
      return [[fen, result] as const];
    });
    return { answers, cost };
  }

  async #metered<T>(database: Database, work: () => Promise<T>): Promise<[T, Cost]> {
    const before = database.stats();
    const start = performance.now();
    const result = await work();
    const after = database.stats();
    if (this.manifest) this.onAnswer?.(after, this.manifest);
    return [result, spent(before, after, performance.now() - start)];
  }
}

/** Whether there is nothing to evaluate, which the board says itself. */
const isOver = (error: unknown) =>
  error instanceof ShelfishError && error.code === "over";

function unlessOver(error: unknown): null {
  if (isOver(error)) return null;
  throw error;
}

/** Says what went wrong with the database, and what the reader of the page can do. */
export function explain(error: unknown): Explanation {
  const code = error instanceof ShelfishError ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const detail = /^https?:/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1);
  const again = "Try again; if it stays, the host is down or refuses this page (CORS).";
  switch (code) {
    case "status":
    case "manifest":
      return {
        title: "There is no readable database here.",
        advice: `${detail}. Build a database with “shelfish build DUMP -o db” and put it next to this page as db/, or name the manifest of another with ?db=URL.`,
      };
    case "version":
      return { title: "This database is of another version.", advice: `${detail}. Rebuild the database, or update this page.` };
    case "network":
      return { title: "The database cannot be reached.", advice: `${navigator.onLine ? `${detail}. ${again}` : "You are offline."} Positions that you have seen before still answer.` };
    case "timeout":
      return { title: "The database takes too long to answer.", advice: `${detail}. ${again}` };
    case "range":
      return { title: "The host does not serve parts of files.", advice: `${detail}. A database needs a host that honours HTTP range requests.` };
    case "corrupt":
      return { title: "The database is damaged.", advice: `${detail}. Run “shelfish verify” on it; an upload may be unfinished.` };
    case "stale":
      return { title: "The database was replaced meanwhile.", advice: "Try again to read the new one." };
    default:
      return { title: "The lookup failed.", advice: detail };
  }
}
