// Types of the adapter for the APIs of Lichess.

import type { Book } from "../book/book.js";
import type { Database } from "../database/database.js";

/** Databases that answer instead of Lichess. Requests without a database are sent to Lichess. */
export interface LichessOptions {
  /** Answers `/api/cloud-eval`: the URL of a database, or an open database. */
  database?: string | URL | Database | undefined;
  /** Answers `/masters` and `/lichess` of the opening explorer: the URL of a book, or an open book. */
  book?: string | URL | Book | undefined;
  /** Answers `/masters` instead of `book`. */
  masters?: string | URL | Book | undefined;
  /**
   * Answers `/player`: the URL of a book for each player and colour, with `{player}` (in small letters) and `{color}`, as in
   * `https://example.org/books/{player}-{color}/`. A player without a book is answered with 404.
   */
  player?: string | undefined;
  /** Names of openings in answers of the explorer. Default `true`; their file takes 35 kB in Brotli. */
  openings?: boolean | undefined;
  /** Sends the other requests. Default the global `fetch` at the time of the call. */
  fetch?: typeof fetch | undefined;
}

/** Arguments of `fetch`. */
export type FetchArguments = Parameters<typeof fetch>;

/** A function with the signature of `fetch`. */
export interface LichessFetch {
  (...request: FetchArguments): Promise<Response>;
  /** Returns whether a database answers a request. Other requests are sent by `fetch`. */
  answers(...request: FetchArguments): boolean;
  /** Closes the databases that the function opened. Later requests open them again. */
  close(): void;
}

/** The parts that are loaded on demand. */
export interface Loaders {
  database(url: string | URL): Promise<Database>;
  book(url: string | URL): Promise<Book>;
  openings(): Promise<typeof import("../openings/openings.js")>;
  moves(): Promise<typeof import("./moves.js")>;
}
