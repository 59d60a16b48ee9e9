// Types of arguments and results.

/**
 * A WASM module: a URL, bytes, a `Response`, or a `WebAssembly.Module` (`object`, because TypeScript knows
 * `WebAssembly.Module` only in browsers).
 */
export type Wasm =
  string | URL | ArrayBuffer | ArrayBufferView | Response | object;

/** A custom source of the files of a database, instead of `fetch`. */
export interface Source {
  /** URL of the folder, with a slash at its end. */
  readonly url: string;
  /** Reads a whole file, which may have at most `cap` bytes. */
  whole(file: string, cap: number): Promise<Uint8Array>;
  /** Reads bytes of a file, without the byte at `end`. */
  range(file: string, start: number, end: number): Promise<Uint8Array>;
}

/** Options of `openDatabase` and `openBook`. */
export interface OpenOptions {
  /** Maximum size of the decoded blocks in memory, in bytes. 0 turns the cache in memory off. Default 16 MiB. */
  memoryBytes?: number | undefined;
  /**
   * The cache in IndexedDB, if the host has IndexedDB: `true` (default), `false`, or its name (default `"shelfish"`) and
   * maximum size in bytes (default 64 MiB). Databases with the same name share the size.
   */
  indexedDB?:
    | boolean
    | { name?: string | undefined; bytes?: number | undefined }
    | undefined;
  /** Maximum number of requests in flight. Default 12. Over HTTP/1, browsers allow 6 requests per host. */
  concurrency?: number | undefined;
  /**
   * Milliseconds until a request fails, including its repetitions. Each 16 KiB received extend them by a second. A request
   * is repeated up to twice if it finds no connection, breaks off, or is answered with 429, 500, 502, 503 or 504. A request
   * to another origin that has never answered is not repeated, because CORS or a policy may forbid it. Also limits the
   * request for the module, and the start of the Worker of `connect`. Default 20,000.
   */
  timeout?: number | undefined;
  /**
   * Accepts only the manifest with this hash: `"sha256-…"` as `shelfish build` and `stats` print it, or several hashes
   * separated by spaces. The manifest leads to the hash of every page and block, so that no host, proxy or cache can change an
   * answer. A page of 1,024 blocks costs one more request of 16 kB.
   */
  integrity?: string | undefined;
  /** Replaces the global `fetch` for the files of the database: to sign URLs, send credentials, or use another cache. */
  fetch?:
    | ((url: string, init: RequestInit) => Response | Promise<Response>)
    | undefined;
  /** Headers of every request. A host of another origin must allow them, and browsers send a preflight for each file. */
  headers?:
    Record<string, string> | Headers | Array<[string, string]> | undefined;
  /** Is called after each request, and after each read of IndexedDB. */
  onRequest?: ((request: FetchedRange) => void) | undefined;
  /**
   * The WASM module, if the file next to the package's JavaScript is missing: a URL (relative to the page), bytes, a
   * `Response`, a compiled module, or a promise. The module is loaded once for all databases: unless the first call
   * failed, later calls ignore this option.
   */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the opening. */
  signal?: AbortSignal | undefined;
}

/** A byte range that was fetched, or that failed. */
export interface FetchedRange {
  /** The file. */
  url: string;
  /** The first byte; 0 for a manifest. */
  start: number;
  /** The byte after the last byte. */
  end: number;
  /** Number of bytes received; 0 after a failure. */
  bytes: number;
  /** Number of pages, blocks and lists of hashes that were needed; 0 for a manifest. */
  parts: number;
  /** Time from the request to the last byte, including repetitions. */
  milliseconds: number;
  /** Origin of the bytes. */
  from: "network" | "indexedDB";
  /** Whether the request succeeded. */
  ok: boolean;
}

/** Options of a lookup. */
export interface LookupOptions<San extends boolean = boolean> {
  /** Aborts the lookup. Requests in flight continue, for the next lookup. */
  signal?: AbortSignal | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Excludes evaluations of less depth, in plies. `null` if no evaluation is deep enough. Default 0. */
  minDepth?: number | undefined;
  /** Excludes evaluations with fewer nodes, in thousands. `null` if no evaluation has enough nodes. Default 0. */
  minKnodes?: number | undefined;
  /**
   * Excludes evaluations with fewer variations, unless they contain all legal moves. `null` if no evaluation has enough
   * variations. Default 1.
   */
  minPvs?: number | undefined;
  /** Whether to add lines in SAN, which takes some time. Default `false`. */
  san?: San | undefined;
}

/** Options of a lookup. */
export interface LichessLookupOptions extends Omit<LookupOptions, "san"> {
  /** Returns the shape of Lichess' cloud evaluation, with castling as `e1h1`. */
  format: "lichess";
  /** Maximum number of variations. The deepest evaluation with so many variations is returned. Default 1. */
  multiPv?: number | undefined;
}

/** The shape of Lichess' cloud evaluation. */
export interface LichessEvaluation {
  /** The FEN of the question. */
  fen: string;
  /** Nodes searched, in thousands. */
  knodes: number;
  /** Search depth in plies. */
  depth: number;
  /** The variations, best first. `moves` are in UCI, separated by spaces. */
  pvs: (Score & { moves: string })[];
}

/** A score: either centipawns or moves to mate, from White's point of view. */
export type Score =
  | {
      /** Centipawns; positive is good for White. */
      cp: number;
      mate?: undefined;
    }
  | {
      /** Moves to mate; positive if White mates, never 0. */
      mate: number;
      cp?: undefined;
    };

/** A principal variation. It has either `cp` or `mate`. */
export type Pv<San extends boolean = boolean> = Score & {
  /** The score as text: `"+0.20"`, `"-1.25"`, `"0.00"`, `"#3"`, `"#-5"`. */
  score: string;
  /** The moves in UCI. */
  uci: string[];
} & (San extends true
    ? {
        /** The moves in SAN. */
        san: string[];
      }
    : {
        /** The moves in SAN, if `san` was requested. */
        san?: string[];
      });

/** A single analysis of a position. */
export interface Evaluation<San extends boolean = boolean> {
  /** Search depth in plies. */
  depth: number;
  /** Nodes searched, in thousands. */
  knodes: number;
  /** The best variation for the side to move is first; never empty. */
  pvs: [Pv<San>, ...Pv<San>[]];
}

/** All evaluations of a position. */
export interface PositionEval<San extends boolean = boolean> {
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** Sorted by depth, then by number of variations, then by nodes, all descending; never empty. */
  evaluations: [Evaluation<San>, ...Evaluation<San>[]];
  /** `evaluations[0]`. */
  best: Evaluation<San>;
}

/** Totals since the database was opened. */
export interface Stats {
  /** Requests, including the manifest and repetitions. */
  requests: number;
  /** Bytes received. */
  bytes: number;
  /** Blocks found in memory. */
  memoryHits: number;
  /** Blocks found in IndexedDB. */
  indexedDBHits: number;
  /** Blocks fetched from the host. */
  networkBlocks: number;
  /** Positions looked up. */
  lookups: number;
  /** Sum of the times of all lookups, which may have run in parallel. */
  milliseconds: number;
}

/** The manifest of a database. */
export interface Manifest {
  /** Version of the format. */
  format: number;
  /** Number of positions. */
  positions: number;
  /** Number of evaluations. */
  evaluations: number;
  /** Number of variations. */
  pvs: number;
  /** Size of all files except the manifest, in bytes. */
  bytes: number;
  /** All files except the manifest, in the order of keys. */
  shards: Shard[];
  /** Properties of the build, by name. */
  info: Record<string, string>;
}

/** A file of a database: blocks of positions, followed by the pages that index the blocks. */
export interface Shard {
  /** Name of the file in the folder of the manifest. */
  file: string;
  /** Size in bytes. */
  bytes: number;
  /** Size of the pages at the end of the file, in bytes. */
  pageBytes: number;
  /** Number of positions. */
  positions: number;
}

/** An opening of the Encyclopaedia of Chess Openings. */
export interface Opening {
  /** `"B90"` */
  eco: string;
  /** `"Sicilian Defense: Najdorf Variation"` */
  name: string;
}
