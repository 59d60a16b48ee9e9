/** How a database is opened. */
export interface OpenOptions {
  /** Bytes of decoded blocks to keep in memory; 0 turns the memory cache off. Default 16 MiB. */
  memoryBytes?: number | undefined;
  /**
   * The cache in IndexedDB, where there is one: `true` (default), `false`, or its name (default `"shelfish"`) and the
   * bytes that it may take (default 64 MiB). Databases that use the same name share the bytes.
   */
  indexedDB?: boolean | { name?: string | undefined; bytes?: number | undefined } | undefined;
  /** Requests in flight at most. Default 12; over HTTP/1 browsers let 6 at a time through to a host themselves. */
  concurrency?: number | undefined;
  /**
   * Milliseconds after which a request is given up, with the times that it was sent again: one that finds no connection,
   * breaks off, or is answered with 429, 500, 502, 503 or 504 is sent again up to twice. Default 15,000.
   */
  timeout?: number | undefined;
  /**
   * Takes no manifest but the one with this hash, `"sha256-…"` as `shelfish build` and `stats` print it; several may be
   * given, with spaces between. The hashes in the manifest then name every file by its content; the ranges that are read
   * of them are checked against accidents, not against a host that lies (see SECURITY.md).
   */
  integrity?: string | undefined;
  /**
   * Where the WASM module comes from, if the file beside the package's JavaScript cannot be had: a URL (relative to the
   * page), the bytes, a `Response`, or a module that was compiled already; or a promise of one of these. It is loaded once
   * for all databases: what the first call gives is taken, unless it failed, and what later ones give is not looked at.
   */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the opening. */
  signal?: AbortSignal | undefined;
}

/**
 * What the WASM module may be given as: a URL, bytes, a `Response`, or a `WebAssembly.Module` (an `object`, as TypeScript
 * knows that name in browsers only).
 */
export type Wasm = string | URL | ArrayBuffer | ArrayBufferView | Response | object;

/** How a lookup is answered. */
export interface LookupOptions {
  /** Aborts the lookup, and the requests that no other lookup waits for. */
  signal?: AbortSignal | undefined;
  /** How castling is written in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Leaves out evaluations of less depth, in plies; a position of which none is left is `null`. Default 0. */
  minDepth?: number | undefined;
  /** Leaves out evaluations of fewer nodes, in thousands; a position of which none is left is `null`. Default 0. */
  minKnodes?: number | undefined;
  /** Whether to write lines in SAN too. Default `false`: it takes a little time. */
  san?: boolean | undefined;
}

/** A score: either centipawns or moves to mate, from White's point of view. */
export type Score =
  | {
      /** Centipawns; positive is good for White. */
      cp: number;
      mate?: undefined;
    }
  | {
      /** Moves to mate; positive when White mates, never 0. */
      mate: number;
      cp?: undefined;
    };

/** A principal variation. It has either `cp` or `mate`. */
export type Pv = Score & {
  /** The score in words: `"+0.20"`, `"-1.25"`, `"0.00"`, `"#3"`, `"#-5"`. */
  score: string;
  /** The line in UCI. */
  uci: string[];
  /** The line in SAN, if `san` was asked for. */
  san?: string[];
};

/** One analysis of a position. */
export interface Evaluation {
  /** Search depth in plies. */
  depth: number;
  /** Nodes searched, in thousands. */
  knodes: number;
  /** Best first for the side to move; never empty. */
  pvs: [Pv, ...Pv[]];
}

/** All that the database knows of a position. */
export interface Eval {
  /** The position: canonical, the first four fields of FEN. */
  fen: string;
  /** Deepest first, then with more lines, then with more nodes; never empty. */
  evaluations: [Evaluation, ...Evaluation[]];
  /** `evaluations[0]`. */
  best: Evaluation;
}

/** Totals since the database was opened; the difference of two calls is what happened in between. */
export interface Stats {
  /** Requests, those for the manifest included. */
  requests: number;
  /** Bytes that were asked for and came. */
  bytes: number;
  /** Blocks that were in memory. */
  memoryHits: number;
  /** Blocks that came from IndexedDB. */
  indexedDBHits: number;
  /** Blocks that came from the host. */
  networkBlocks: number;
  /** Positions looked up. */
  lookups: number;
  /** Time from question to answer, summed over lookups that may have run at the same time. */
  milliseconds: number;
}

/** What the database says of itself. */
export interface Manifest {
  /** Version of the format. */
  format: number;
  /** Positions in the database. */
  positions: number;
  /** Evaluations of all positions. */
  evaluations: number;
  /** Lines of all evaluations. */
  pvs: number;
  /** Bytes of all files but the manifest. */
  bytes: number;
  /** How the database was made, by name. */
  info: Record<string, string>;
}

/**
 * What went wrong:
 *
 * | code | what it means |
 * |---|---|
 * | `fen` | The text is not the FEN of a position that can be played on; the message says which field is wrong. |
 * | `manifest` | What is at the URL is not a manifest of a Shelfish database of evaluations. |
 * | `integrity` | The manifest is another one than that of `integrity`. |
 * | `version` | The database is of a later format than this package reads. |
 * | `network` | No answer: no connection, no such host, refused by CORS, or the answer broke off. |
 * | `timeout` | No complete answer in time. |
 * | `status` | The host answered with an error, such as 404, 403 or 500. |
 * | `range` | The host sent other bytes than it was asked for: a wrong range, a short or long body, a compressed range, or the whole of a large file. |
 * | `corrupt` | Bytes came that are not those that the database's author wrote. |
 * | `stale` | The database was replaced while it was open, and the new one cannot be read either. |
 * | `aborted` | The signal was aborted; the name of the error is `AbortError`, its `cause` the signal's reason. |
 * | `closed` | The database was closed. |
 * | `usage` | An argument or option is not what it should be; the message names it. |
 */
export type ErrorCode =
  | "fen"
  | "manifest"
  | "integrity"
  | "version"
  | "network"
  | "timeout"
  | "status"
  | "range"
  | "corrupt"
  | "stale"
  | "aborted"
  | "closed"
  | "usage";

/** The only error that this package throws. */
export class ShelfishError extends Error {
  private constructor();
  /** What went wrong. */
  readonly code: ErrorCode;
  /** The file that it went wrong with, if it was one. */
  readonly url?: string;
}

/** An open database. */
export class Database {
  private constructor();

  /** What the database says of itself. */
  readonly manifest: Manifest;

  /**
   * Looks a position up. `null`: the database does not have it, or nothing of it that `minDepth` and `minKnodes` leave.
   *
   * The FEN may have four or six fields; castling rights may be in any order and in the letters of Shredder-FEN; an
   * en-passant square that no capture can use is ignored.
   *
   * Rejects with a {@link ShelfishError}.
   */
  lookup(fen: string, options?: LookupOptions): Promise<Eval | null>;

  /**
   * Looks positions up, answers in the same order. Each block is fetched once, near ones by one request, requests
   * run side by side. What cannot be answered has its error as its entry; the others answer all the same.
   *
   * Rejects with a {@link ShelfishError} if it was aborted or the database closed.
   */
  lookupMany(fens: Iterable<string>, options?: LookupOptions): Promise<Array<Eval | null | ShelfishError>>;

  /** What was done since the database was opened. */
  stats(): Stats;

  /** Frees what the database holds in memory; lookups under way reject with code `closed`. May be called again. */
  close(): void;
}

/**
 * Opens a database by the URL of its `manifest.json`, or of the folder it is in with a slash at its end: absolute or
 * relative to the page. In Node it has to be absolute.
 *
 * The WASM module is loaded by the first call. Without a connection, the last manifest that IndexedDB has serves, and
 * with it all that was looked up before.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function open(manifestUrl: string | URL, options?: OpenOptions): Promise<Database>;
