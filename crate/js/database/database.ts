// Databases of evaluations.
/// <reference lib="esnext.disposable" preserve="true" />

import { connect } from "../shared/connect.js";
import { enter, type ShelfishError } from "../shared/errors.js";
import type { Kinds } from "../shared/options.js";
import { OpenTable, type TableReader } from "../shared/table.js";
import type { LookupOptions, Manifest, OpenOptions, PositionEval, Source } from "../shared/types.js";
import { imports, open, start } from "../shelfish.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "../shared/errors.js";
export type * from "../shared/types.js";

const MODULE = { imports, start, entry: "shelfish", file: "shelfish_bg.wasm", call: "openDatabase(url, { wasm })" };

const OPTIONS: Kinds<LookupOptions> = {
  signal: "signal",
  castling: "castling",
  minDepth: "least0",
  minKnodes: "least0",
  minPvs: "least0",
  san: "flag",
};

/** An open database. {@link openDatabase} returns it. */
export class Database extends OpenTable<Manifest> {
  private constructor(reader: TableReader) {
    super(reader);
  }

  /** @internal */
  static of(reader: TableReader): Database {
    return new Database(reader);
  }

  /**
   * Looks up a position. Returns `null` if the database does not contain the position, or if `minDepth`, `minKnodes` and
   * `minPvs` exclude all its evaluations. Rejects with code `over` if the game is over.
   *
   * The FEN may have four or six fields. Castling rights may be in any order and in the notation of Shredder-FEN. An
   * en-passant square is ignored if no capture is legal.
   *
   * Rejects with a {@link ShelfishError}.
   */
  lookup<San extends boolean = boolean>(fen: string, options?: LookupOptions<San>): Promise<PositionEval<San> | null> {
    return enter(() => this.lookupOne("lookup", fen, options, OPTIONS));
  }

  /**
   * Looks up positions, and returns the answers in the same order. Fetches each block once, nearby blocks by a single
   * request, and all in parallel. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the database is closed.
   */
  lookupMany<San extends boolean = boolean>(
    fens: Iterable<string>,
    options?: LookupOptions<San>,
  ): Promise<Array<PositionEval<San> | null | ShelfishError>> {
    return enter((trace) => this.lookupAll("lookupMany", fens, options, OPTIONS, trace));
  }
}

/**
 * Opens a database by the URL of its `manifest.json`, or of its folder with a slash at the end: absolute, or relative to
 * the page. In Node also by the path of a folder or a `file:` URL. Also opens any {@link Source}.
 *
 * The first call loads the WASM module. If there is no connection, the last manifest in IndexedDB and all cached blocks
 * are used.
 *
 * Rejects with a {@link ShelfishError}, with code `manifest` if the URL has a book.
 */
export function openDatabase(database: string | URL | Source, options?: OpenOptions): Promise<Database> {
  return enter(async () => Database.of(await connect("openDatabase", MODULE, open, database, options)));
}
