// The package's face: loads the WASM module and gives what it exports its names and types.
/// <reference lib="esnext.disposable" preserve="true" />

import { connect, texts } from "./connect.js";
import type { ShelfishError } from "./errors.js";
import { type Database as Reader, imports, open, start } from "./shelfish.js";
import type { LookupOptions, Manifest, OpenOptions, PositionEval, SanOf, Source, Stats } from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type * from "./types.js";

const MODULE = { imports, start, entry: "shelfish", file: "shelfish_bg.wasm", call: "openDatabase(url, { wasm })" };

/** An open database. */
export class Database {
  #reader: Reader;

  /** @internal Use {@link openDatabase}. */
  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** What the database says of itself. */
  get manifest(): Manifest {
    return this.#reader.manifest();
  }

  /**
   * Looks a position up. `null`: the database does not have it, or nothing of it that `minDepth` and `minKnodes` leave. A
   * game that is over rejects with code `over`.
   *
   * The FEN may have four or six fields; castling rights may be in any order and in the letters of Shredder-FEN; an
   * en-passant square that no capture can use is ignored.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async lookup<O extends LookupOptions>(fen: string, options?: O): Promise<PositionEval<SanOf<O>> | null> {
    return this.#reader.lookup(String(fen), options);
  }

  /**
   * Looks positions up, answers in the same order. Each block is fetched once, near ones by one request, requests
   * run side by side. What cannot be answered has its error as its entry; the others answer all the same.
   *
   * Rejects with a {@link ShelfishError} if it was aborted or the database closed.
   */
  async lookupMany<O extends LookupOptions>(
    fens: Iterable<string>,
    options?: O,
  ): Promise<Array<PositionEval<SanOf<O>> | null | ShelfishError>> {
    return this.#reader.lookupMany(texts("lookupMany", fens), options, true);
  }

  /**
   * Fetches what lookups of positions will take, so that they need no request: those of a game that was just opened, or of
   * the moves that are likely next. Positions that cannot be fetched are passed over.
   */
  async prefetch(fens: Iterable<string>, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#reader.lookupMany(texts("prefetch", fens), options, false);
  }

  /** Forgets all that is kept of this database, in memory and in IndexedDB; other databases in the same cache stay. */
  async clear(): Promise<void> {
    return this.#reader.clear();
  }

  /** What was done since the database was opened. */
  stats(): Stats {
    return this.#reader.stats();
  }

  /** Frees what the database holds in memory; lookups under way reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes it at the end of a block: `using database = await openDatabase(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens a database by the URL of its `manifest.json`, or of the folder it is in with a slash at its end: absolute or
 * relative to the page. In Node also by the path of a folder, or a `file:` URL; and from any {@link Source}.
 *
 * The WASM module is loaded by the first call. Without a connection, the last manifest that IndexedDB has serves, and
 * with it all that was looked up before.
 *
 * Rejects with a {@link ShelfishError}.
 */
export async function openDatabase(database: string | URL | Source, options?: OpenOptions): Promise<Database> {
  return new Database(await connect(MODULE, open, database, options));
}
