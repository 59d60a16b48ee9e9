/** Access to the database. It is opened when first needed, and again after a failure. Every answer comes with its cost. */
import {
  type Database,
  openDatabase,
  type PositionEval,
  ShelfishError,
  type Stats,
} from "shelfish";
import { fetchEarly, loadOnce } from "../loading/loading";
import { messageOf, capitalised, duration, plural, size } from "../text/words";

/** A failure in words, with advice. */
export interface Explanation {
  title: string;
  advice: string;
}

export class DatabaseClient {
  /** The database's manifest, once the database is open. */
  manifest: Database["manifest"] | undefined;
  /** Called with the database's counters after each lookup. */
  onAnswer: ((stats: Stats) => void) | undefined;

  /** `url` is the manifest's URL, `opener` the function of the package that opens the database. */
  constructor(readonly url: URL) {}

  /** Opens the database. After a failure the next call tries again. */
  readonly open = loadOnce(async () => {
    const database = await openDatabase(this.url, OPEN_OPTIONS);
    this.manifest = database.manifest;
    return database;
  });

  /** Looks up a position. The answer is `null` if the database does not have it. */
  async lookup(
    fen: string,
    signal: AbortSignal,
  ): Promise<{ answer: PositionEval | null; cost: Cost }> {
    const database = await this.open();
    signal.throwIfAborted();
    const [answer, cost] = await this.#metered(database, () =>
      database.lookup(fen, { signal, castling: "chess960" }).catch(unlessOver),
    );
    return { answer, cost };
  }

  /** Looks many positions up with one call. Positions whose lookup failed are left out: they may be in the database. */
  async lookupMany(
    fens: string[],
    signal: AbortSignal,
  ): Promise<{
    answers: (readonly [fen: string, answer: PositionEval | null])[];
    cost: Cost;
  }> {
    const database = await this.open();
    signal.throwIfAborted();
    const [results, cost] = await this.#metered(database, () =>
      database.lookupMany(fens, { signal, castling: "chess960" }),
    );
    return {
      answers: answered(
        fens,
        results.map((result) => (isOver(result) ? null : result)),
      ),
      cost,
    };
  }

  /** Runs a lookup. Returns its result and its cost. */
  async #metered<T>(
    database: Database,
    work: () => Promise<T>,
  ): Promise<[T, Cost]> {
    const [before, start] = [database.stats(), performance.now()];
    const answer = await work();
    const after = database.stats();
    this.onAnswer?.(after);
    return [answer, spent(before, after, performance.now() - start)];
  }
}

/** Size of the cache of each database in IndexedDB, in bytes. */
const CACHE = 64 * 2 ** 20;

/** The options with which the pages open data. */
export const OPEN_OPTIONS = {
  fetch: fetchEarly,
  indexedDB: { bytes: CACHE },
};

/** Returns the answers by position, without the positions whose lookup failed. */
export const answered = <T>(
  fens: readonly string[],
  results: readonly (T | ShelfishError)[],
): (readonly [fen: string, answer: T])[] =>
  results.flatMap((result, index) =>
    result instanceof ShelfishError
      ? []
      : [[fens[index] ?? "", result] as const],
  );

/** Whether the game is over in the position. The board shows that itself. */
export const isOver = (error: unknown) =>
  error instanceof ShelfishError && error.code === "over";

function unlessOver(error: unknown): null {
  if (isOver(error)) return null;
  throw error;
}

/** Explains an error of the database, with advice for the reader of the page. */
export function explain(error: unknown): Explanation {
  const code = error instanceof ShelfishError ? error.code : undefined;
  const message = messageOf(error);
  const detail = /^https?:/.test(message) ? message : capitalised(message);
  const again =
    "Try again. If the error stays, the host is down or refuses this page (CORS).";
  switch (code) {
    case "status":
    case "manifest":
      return {
        title: "There is no readable database here.",
        advice: `${detail}. Build a database with “shelfish build DUMP -o db” and put it next to this page as db/, or name the manifest of another with ?db=URL.`,
      };
    case "version":
      return {
        title: "This database has another format version.",
        advice: `${detail}. Rebuild the database, or update this page.`,
      };
    case "network":
      return {
        title: "The database cannot be reached.",
        advice: `${navigator.onLine ? `${detail}. ${again}` : "You are offline."} Positions that you have seen before are still available.`,
      };
    case "timeout":
      return {
        title: "The database takes too long to answer.",
        advice: `${detail}. ${again}`,
      };
    case "range":
      return {
        title: "The host does not serve byte ranges.",
        advice: `${detail}. A database needs a host that supports HTTP range requests.`,
      };
    case "corrupt":
      return {
        title: "The database is damaged.",
        advice: `${detail}. Run “shelfish verify” on it; an upload may be unfinished.`,
      };
    case "stale":
      return {
        title: "The database was replaced during the lookup.",
        advice: "Try again to read the new one.",
      };
    default:
      return { title: "The lookup failed.", advice: detail };
  }
}

const COUNTERS = [
  "requests",
  "bytes",
  "memoryHits",
  "indexedDBHits",
  "networkBlocks",
] as const;

type Counters = Record<(typeof COUNTERS)[number], number>;

/** Counters of one lookup, with the time until the page got the answer. */
export interface Cost extends Counters {
  milliseconds: number;
}

/** Returns the difference of the counters before and after a lookup. */
export function spent(
  before: Counters,
  after: Counters,
  milliseconds: number,
): Cost {
  const differences = COUNTERS.map((name) => [
    name,
    after[name] - before[name],
  ]);
  return { ...(Object.fromEntries(differences) as Counters), milliseconds };
}

/** Names the sources of an answer, the slowest first. */
function origin(cost: Cost): string {
  const sources = [];
  if (cost.requests > 0 || cost.networkBlocks > 0) sources.push("the network");
  if (cost.indexedDBHits > 0) sources.push("IndexedDB");
  if (cost.memoryHits > 0 || sources.length === 0) sources.push("memory");
  return `from ${sources.join(" and ")}`;
}

/** Formats a cost: "1 request · 11.2 kB · 43 ms · from the network". */
export function summary(cost: Cost): string {
  return [
    plural(cost.requests, "request"),
    size(cost.bytes),
    duration(cost.milliseconds),
    origin(cost),
  ].join(" · ");
}
