// What the package takes and gives.

/**
 * What the WASM module may be given as: a URL, bytes, a `Response`, or a `WebAssembly.Module` (an `object`, as TypeScript
 * knows that name in browsers only).
 */
export type Wasm = string | URL | ArrayBuffer | ArrayBufferView | Response | object;

/** Where files of a database come from, if not by `fetch`. */
export interface Source {
  /** The folder, with a slash at its end. */
  readonly url: string;
  /** All of a file, which may have `cap` bytes at most. */
  whole(file: string, cap: number): Promise<Uint8Array>;
  /** Bytes of a file, `end` not among them. */
  range(file: string, start: number, end: number): Promise<Uint8Array>;
}

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
   * Called in place of the global `fetch` for the files of the database: to sign URLs, send credentials, or answer from
   * a cache of one's own.
   */
  fetch?: ((url: string, init: RequestInit) => Response | Promise<Response>) | undefined;
  /** Headers of every request. A host of another origin must allow them, and asks the browser about each file first. */
  headers?: Record<string, string> | Headers | Array<[string, string]> | undefined;
  /** Hears of all that is fetched, from the host or from IndexedDB, once it came or failed. */
  onRequest?: ((request: FetchedRange) => void) | undefined;
  /**
   * Where the WASM module comes from, if the file beside the package's JavaScript cannot be had: a URL (relative to the
   * page), the bytes, a `Response`, or a module that was compiled already; or a promise of one of these. It is loaded once
   * for all databases: what the first call gives is taken, unless it failed, and what later ones give is not looked at.
   */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the opening. */
  signal?: AbortSignal | undefined;
}

/** Bytes of a file that were fetched, or not. */
export interface FetchedRange {
  /** The file. */
  url: string;
  /** The first byte; 0 for a manifest. */
  start: number;
  /** The byte after the last. */
  end: number;
  /** Bytes that came; 0 if it failed. */
  bytes: number;
  /** Pages and blocks among them that were wanted; 0 for a manifest. */
  parts: number;
  /** From the request to the last byte, with the times that it was sent again. */
  milliseconds: number;
  /** Where they came from. */
  from: "network" | "indexedDB";
  /** Whether they came. */
  ok: boolean;
}

/** How a lookup is answered. */
export interface LookupOptions {
  /** Aborts the lookup. Requests that are under way go on, for the lookup that comes next. */
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

/** Whether options ask for SAN, as far as their type tells. */
export type SanOf<O extends LookupOptions> = O extends { san: true } ? true : boolean;

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
export type Pv<San extends boolean = boolean> = Score & {
  /** The score in words: `"+0.20"`, `"-1.25"`, `"0.00"`, `"#3"`, `"#-5"`. */
  score: string;
  /** The line in UCI. */
  uci: string[];
} & (San extends true
    ? {
        /** The line in SAN. */
        san: string[];
      }
    : {
        /** The line in SAN, if `san` was asked for. */
        san?: string[];
      });

/** One analysis of a position. */
export interface Evaluation<San extends boolean = boolean> {
  /** Search depth in plies. */
  depth: number;
  /** Nodes searched, in thousands; above 2⁵³, which no search reaches, the nearest number. */
  knodes: number;
  /** Best first for the side to move; never empty. */
  pvs: [Pv<San>, ...Pv<San>[]];
}

/** All that the database knows of a position. */
export interface PositionEval<San extends boolean = boolean> {
  /** The position: canonical, the first four fields of FEN. */
  fen: string;
  /** Deepest first, then with more lines, then with more nodes; never empty. */
  evaluations: [Evaluation<San>, ...Evaluation<San>[]];
  /** `evaluations[0]`. */
  best: Evaluation<San>;
}

/** Totals since the database was opened; the difference of two calls is what happened in between. */
export interface Stats {
  /** Requests, those for the manifest included, and those that were sent again. */
  requests: number;
  /** Bytes that came. */
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
  /** All files but the manifest, in the order of keys. */
  shards: Shard[];
  /** How the database was made, by name. */
  info: Record<string, string>;
}

/** A file of a database: blocks of positions, then the pages that list the blocks. */
export interface Shard {
  /** Its name, in the folder of the manifest. */
  file: string;
  /** Its length in bytes. */
  bytes: number;
  /** Bytes of its pages, which are its end. */
  pageBytes: number;
  /** Positions in it. */
  positions: number;
}

/** An opening of the Encyclopaedia of Chess Openings. */
export interface Opening {
  /** `"B90"` */
  eco: string;
  /** `"Sicilian Defense: Najdorf Variation"` */
  name: string;
}
