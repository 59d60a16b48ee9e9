// Databases of evaluations.
/// <reference lib="esnext.disposable" preserve="true" />

import { connect } from "../shared/connect.js";
import type { ShelfishError } from "../shared/errors.js";
import { fenList } from "../shared/options.js";
import type { LookupOptions, Manifest, OpenOptions, PositionEval, SanOf, Source, Stats } from "../shared/types.js";
import { type Database as Reader, imports, open, start } from "../shelfish.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "../shared/errors.js";
export type * from "../shared/types.js";

const MODULE = { imports, start, entry: "shelfish", file: "shelfish_bg.wasm", call: "openDatabase(url, { wasm })" };

/** An open database. */
export class Database {
  #reader: Reader;

  /** @internal Use {@link openDatabase}. */
  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The manifest of the database. */
  get manifest(): Manifest {
    return this.#reader.manifest();
  }

  /**
   * Looks up a position. Returns `null` if the database does not contain the position, or if `minDepth` and `minKnodes`
   * exclude all its evaluations. Rejects with code `over` if the game is over.
   *
   * The FEN may have four or six fields. Castling rights may be in any order and in the notation of Shredder-FEN. An
   * en-passant square is ignored if no capture is legal.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async lookup<O extends LookupOptions>(fen: string, options?: O): Promise<PositionEval<SanOf<O>> | null> {
    return this.#reader.lookup(String(fen), options);
  }

  /**
   * Looks up positions, and returns the answers in the same order. Fetches each block once, nearby blocks by a single
   * request, and all in parallel. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the database is closed.
   */
  async lookupMany<O extends LookupOptions>(
    fens: Iterable<string>,
    options?: O,
  ): Promise<Array<PositionEval<SanOf<O>> | null | ShelfishError>> {
    return this.#reader.lookupMany(fenList("lookupMany", fens), options, true);
  }

  /** Fetches the blocks of positions, so that their lookups need no request. Ignores positions that fail. */
  async prefetch(fens: Iterable<string>, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#reader.lookupMany(fenList("prefetch", fens), options, false);
  }

  /** Clears the caches of this database in memory and in IndexedDB. Keeps other databases in the same cache. */
  async clear(): Promise<void> {
    return this.#reader.clear();
  }

  /** Returns totals since the database was opened. */
  stats(): Stats {
    return this.#reader.stats();
  }

  /** Frees the memory. Lookups in progress reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes the database at the end of a block: `using database = await openDatabase(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens a database by the URL of its `manifest.json`, or of its folder with a slash at the end: absolute, or relative to
 * the page. In Node also by the path of a folder or a `file:` URL. Also opens any {@link Source}.
 *
 * The first call loads the WASM module. If there is no connection, the last manifest in IndexedDB and all cached blocks
 * are used.
 *
 * Rejects with a {@link ShelfishError}.
 */
export async function openDatabase(database: string | URL | Source, options?: OpenOptions): Promise<Database> {
  return new Database(await connect(MODULE, open, database, options));
}
