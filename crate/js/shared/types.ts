// Types of arguments and results of all entries.

import type { ShelfishError } from "./errors.js";

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

/** Options of `openDatabase`, `openBook` and `openEndgames`. */
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
  /** Maximum number of requests in flight. Default 32. Over HTTP/1, browsers allow 6 requests per host. */
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
   * separated by spaces. A URL may also end with `#` and a hash. The manifest leads to the hash of every page and block, so that no host, proxy or cache can change an
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

/** Options that every question has. */
export interface CallOptions {
  /** Aborts the call. Requests in flight continue, for the next call. A search of the engine ends within about 20 ms. */
  signal?: AbortSignal | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
}

/** Limits of a search. */
export interface Limits {
  /** Depth in plies, at most 127. */
  depth?: number | undefined;
  /** Exact number of nodes. */
  nodes?: number | undefined;
  /** Milliseconds. */
  movetime?: number | undefined;
}

/** Options of a lookup. */
export interface LookupOptions<
  San extends boolean = boolean,
> extends CallOptions {
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

/** An evaluation and its origin: the shape of every answer, of a database, tables, an engine or an evaluator. */
export interface Evaluated<
  San extends boolean = boolean,
> extends Evaluation<San> {
  /** `endgames`: endgame tables, whose result is exact. Depth and nodes are 0. */
  from: EvaluationOrigin;
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** All evaluations of the database. */
  evaluations?: Evaluation<San>[] | undefined;
  /** Duration of the search of an engine. */
  milliseconds?: number | undefined;
  /** The exact result of endgame tables, and of all legal moves. */
  endgame?: EndgameResult | undefined;
  /** The error of the database, if the database failed and an engine answered. */
  databaseError?: ShelfishError | undefined;
}

/** The answer of a database. Depth, nodes and variations are those of `evaluations[0]`. */
export interface PositionEval<
  San extends boolean = boolean,
> extends Evaluated<San> {
  from: "database";
  /** Sorted by depth, then by number of variations, then by nodes, all descending; never empty. */
  evaluations: [Evaluation<San>, ...Evaluation<San>[]];
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

/** Numbers of games by result. */
export interface Results {
  /** Wins of White. */
  white: number;
  /** Draws. */
  draws: number;
  /** Wins of Black. */
  black: number;
}

/** The games of a bucket. */
export interface BucketResults extends Results {
  /** Mean rating of the games, if the book contains ratings. */
  averageRating?: number;
}

/** Results of games, with the optional parts of the book: see `shelfish book build --help`. */
export interface Games extends BucketResults {
  /** Results by bucket, in the order of {@link BookManifest.buckets}, if the book has several buckets. Not affected by the option `buckets`. */
  buckets?: BucketResults[];
  /** Some of the games in all buckets, highest rating first, if the book contains references. */
  games?: GameReference[];
}

/** A reference to a game: on Lichess, or in a source of the book. */
export interface GameReference {
  /** Id on Lichess. */
  id?: string;
  /** URL on Lichess. */
  url?: string;
  /** Name of the source. */
  source?: string;
  /** Number of the game in the source, from 1. */
  number?: number;
  /** The winner; `null` for a draw. */
  winner: "white" | "black" | null;
  /** Mean rating of the players. */
  rating?: number;
}

/** A move and the results of the games that played it. */
export interface PlayedMove extends Games {
  /** The move in UCI. */
  uci: string;
  /** The move in SAN. */
  san: string;
  /** The position after the move: the first four fields of FEN. */
  fen: string;
  /** Share of the games that reached the position, from 0 to 1. */
  share: number;
  /** Points per game of the side to move, from 0 to 1: wins and half of the draws. */
  points: number;
}

/** A position, the results of the games that reached it, and their moves. A game counts once for a position. */
export interface Played<M extends PlayedMove = PlayedMove> extends Omit<
  Games,
  "games"
> {
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** The games whose moves end here. */
  ended: Games;
  /** The moves, most played first; empty if no game reached the position. */
  moves: M[];
}

/** A move with its evaluation and opening. */
export interface ExploredMove extends PlayedMove {
  /** Evaluation of the position after the move, if the database contains it. */
  evaluation?: PositionEval;
  /** Error of the lookup, if it failed. */
  error?: ShelfishError;
  /** Name of the opening after the move, if the opening has a name. */
  opening?: Opening;
}

/** Moves with their evaluations and openings. */
export interface Explored extends Played<ExploredMove> {
  /** Name of the opening, if the opening has a name. */
  opening?: Opening;
}

/** The shape of Lichess' opening explorer. Values that the book lacks are `null` or omitted. */
export interface LichessExplored extends Results {
  opening: Opening | null;
  moves: LichessMove[];
  /** The games on Lichess with the highest ratings: at most 15. */
  topGames: LichessGame[];
  recentGames: never[];
}

/** A move in the shape of Lichess' opening explorer. */
export interface LichessMove extends Results {
  uci: string;
  san: string;
  averageRating: number | null;
  /** The only game that played the move, if it is on Lichess. */
  game: LichessGame | null;
  opening: Opening | null;
}

/** A game in the shape of Lichess' opening explorer. */
export interface LichessGame {
  uci: string;
  id: string;
  winner: "white" | "black" | null;
  /** Mean rating of the players, instead of their names. */
  rating?: number;
}

/** Options of `moves` and `movesMany`. */
export interface MovesOptions extends CallOptions {
  /** Names of the buckets whose games count, from {@link BookManifest.buckets}. Default all. */
  buckets?: string[] | undefined;
}

/** The part of a database that needs several positions: a `Database` of `shelfish` or `shelfish/worker`. */
export interface EvaluationSource {
  lookupMany(
    fens: string[],
    options?: CallOptions,
  ): Promise<ReadonlyArray<PositionEval | Error | null>>;
}

/** Options of `explore`. */
export interface ExploreOptions extends MovesOptions {
  /** Database of evaluations. All moves are looked up by a single call. A database by its URL stays open until the book is closed. */
  database?: Opener<EvaluationSource>;
  /** Finds the name of an opening by FEN, like `openingOf` of `shelfish/openings`. */
  openingOf?: ((fen: string) => Opening | undefined) | undefined;
  /** `"lichess"` returns the shape of Lichess' opening explorer. */
  format?: "shelfish" | "lichess" | undefined;
}

/** The manifest of a book. */
export interface BookManifest extends Omit<Manifest, "evaluations" | "pvs"> {
  /** Number of moves of all positions. */
  moves: number;
  /** The buckets of the games; empty if the book does not divide them. */
  buckets: BookBucket[];
}

/** A bucket of a book. */
export interface BookBucket {
  /** `"blitz 1600-1999"`, `"2400-2599, years 1990-2009"` */
  name: string;
  /** Speed of the games on Lichess, if the book divides games by speed. */
  speed?:
    | "ultraBullet"
    | "bullet"
    | "blitz"
    | "rapid"
    | "classical"
    | "correspondence";
  /** Lowest and highest rating, `null` without a bound, if the book divides games by rating. */
  ratings?: [number | null, number | null];
  /** First and last year, `null` without a bound, if the book divides games by year. */
  years?: [number | null, number | null];
}

/**
 * The result for a side with the 50-move rule. `cursed-win` and `blessed-loss` are draws by the rule. With `maybe-win` and
 * `maybe-loss`, the rounded distance does not decide whether the rule makes a draw.
 */
export type EndgameOutcome =
  | "win"
  | "maybe-win"
  | "cursed-win"
  | "draw"
  | "blessed-loss"
  | "maybe-loss"
  | "loss";

/** A legal move and its result for the side that moves. */
export interface EndgameMove {
  /** The move in UCI. */
  uci: string;
  /** The move in SAN. */
  san: string;
  /** The position after the move: the first four fields of FEN. */
  fen: string;
  /** The result. */
  outcome: EndgameOutcome;
  /** Plies until the next capture or pawn move, this move included; negative for a loss, 0 for a draw. */
  dtz: number;
  /** Whether the move is a capture or a pawn move. */
  isZeroing: boolean;
  /** Whether the move is checkmate. */
  isCheckmate: boolean;
  /** Whether the move is stalemate. */
  isStalemate: boolean;
  /** Whether neither side can mate after the move. */
  isInsufficientMaterial: boolean;
  /** The result for the other side. */
  after: Pick<EndgameResult, "outcome" | "dtz" | "isRounded">;
}

/** The exact result of a position for the side to move. */
export interface EndgameResult {
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** The result. The half-move clock of the FEN counts. */
  outcome: EndgameOutcome;
  /** Plies until the next capture or pawn move (distance to zeroing); negative for a loss, 0 for a draw or a game that is over. */
  dtz: number;
  /** Whether `dtz` is rounded: the distance may be one ply longer. */
  isRounded: boolean;
  /** Whether neither side can mate. */
  isInsufficientMaterial: boolean;
  /** The legal moves, best move first. Winning moves are in the order of their distance. */
  moves: EndgameMove[];
  from: "endgames";
  depth: 0;
  knodes: 0;
  /** The best move with its score: ±20,000 centipawns or 0, and the result of best play as text. Empty if the game is over. */
  pvs: Pv<true>[];
}

/** The part of a `Worker` that the engine needs. */
export interface EngineWorker {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  terminate(): unknown;
}

/** The clock of the side to move. */
export interface Clock {
  /** Milliseconds left. */
  time: number;
  /** Milliseconds added after each move. Default 0. */
  increment?: number | undefined;
  /** Moves until the next time control. Default 0: unknown. */
  moves?: number | undefined;
  /** Milliseconds that each move loses between clock and engine. Default 20. */
  overhead?: number | undefined;
}

/** The result of a search, or of its iterations so far. */
export interface EngineEvaluation<
  San extends boolean = boolean,
> extends Evaluated<San> {
  from: "engine";
  /** Length of the longest variation searched, in plies. */
  deepest: number;
  /** Nodes searched. */
  nodes: number;
  milliseconds: number;
  /** Whether the position occurred before in the game of `moves`. Omitted if it did not. */
  isRepeated?: true | undefined;
  /** With `elo`, after the search: the variation that a player of this rating chooses. */
  chosen?: Pv<San> | undefined;
}

/** Options of `openEngine`. */
export interface EngineOptions {
  /** Number of Workers. Each Worker searches a different position. Default 1. A Worker starts when it is needed. */
  workers?: number | undefined;
  /** Size of the transposition table of each Worker, in bytes. Default 16 MiB, at most 256 MiB. */
  memoryBytes?: number | undefined;
  /**
   * Starts a Worker whose script imports `shelfish/engine-worker.js`. Needed if the file `engine-worker.js` next to the
   * package's JavaScript is missing.
   */
  worker?: (() => EngineWorker) | undefined;
  /** The WASM module, in the forms that `openDatabase` takes. */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Milliseconds until the module must have arrived, and each Worker must have started. Default 20,000. */
  timeout?: number | undefined;
  /** Aborts the loading. */
  signal?: AbortSignal | undefined;
}

/**
 * Options of a search. Without `depth`, `nodes`, `movetime`, `clock`, `mate` and `elo`, the search continues until `signal` is
 * aborted, and returns its last iteration.
 */
export interface AnalyseOptions<San extends boolean = boolean>
  extends CallOptions, Limits {
  /** The clock of the side to move. The search takes a part of its time. */
  clock?: Clock | undefined;
  /** The search ends when it found a mate in this many moves. */
  mate?: number | undefined;
  /** Number of variations, best first. Default 1. */
  multiPv?: number | undefined;
  /** Moves in UCI that were played from the position, so that the engine sees repetitions. The last position is searched. */
  moves?: readonly string[] | undefined;
  /** Moves in UCI to search. Default all. */
  searchMoves?: readonly string[] | undefined;
  /**
   * Plays like a player of this rating, from 800 to 2600. The engine searches fewer positions, and `chosen` is its move: a
   * random choice among moves that it considers about equal, or, below 2000, now and then the only variation: a move whose answer
   * it overlooked. Other limits also apply.
   */
  elo?: number | undefined;
  /** Seed of the random choice with `elo`, a whole number from 0. Default: a new seed each time. */
  seed?: number | undefined;
  /** Is called after each iteration. */
  onInfo?: ((found: EngineEvaluation<San>) => void) | undefined;
  /** Whether to add lines in SAN. Default `false`. */
  san?: San | undefined;
}

/** Options of a sequence of searches. */
export interface SequenceOptions<Found>
  extends CallOptions, Pick<Limits, "depth" | "nodes"> {
  /** Number of variations, best first. Default 1. An engine that ignores it finds no only moves. */
  multiPv?: number | undefined;
  /** Is called after each position, with its index in the list. */
  onAnswer?: ((index: number, found: Found) => void) | undefined;
}

/** Origin of an evaluation. `stockfish`: an engine of `openUciEngine`. */
export type EvaluationOrigin = "endgames" | "database" | "engine" | "stockfish";

/** What names an object, or the object itself. */
type Given<T, Name> = T | Name | PromiseLike<T | Name>;

/** What every entry takes as an origin: a URL, an open object, a promise of either, or a function that returns it when it is needed. */
export type Opener<T, Name = string | URL> =
  Given<T, Name> | (() => Given<T, Name>) | null | undefined;

/** An engine, a promise of it, or a function that opens it. `true` is the engine of this package. */
export type EngineOpener<T> = Opener<T, boolean>;

/** Options of `openEvaluator`. */
export interface EvaluatorOptions {
  /** A database of `shelfish` or `shelfish/worker`. */
  database?: Opener<EvaluatorDatabase>;
  /**
   * Endgame tables of `shelfish/endgames`, which are opened at a position with at most seven pieces. They are asked first. Positions
   * that they do not contain, and positions whose tables fail, are evaluated by the database and the engine.
   */
  endgames?: Opener<EndgameTables>;
  engine?: EngineOpener<EvaluatorEngine>;
}

/** The part of the result of an ending that evaluator and analysis need. */
export interface Ending {
  /** FEN of the position, with at least two fields. */
  readonly fen: string;
  readonly outcome: string;
  readonly moves: ReadonlyArray<{ readonly uci: string }>;
}

/** The part of endgame tables that evaluator and analysis need. */
export interface EndgameTables<Result extends Ending = EndgameResult> {
  readonly maxPieces: number;
  probeMany(
    fens: string[],
    options?: CallOptions,
  ): Promise<ReadonlyArray<Result | Error>>;
}

/** The part of a database that the evaluator needs. */
export interface EvaluatorDatabase {
  lookup(fen: string, options?: object): Promise<PositionEval | null>;
}

/** The part of an engine that the evaluator needs. */
export interface EvaluatorEngine {
  analyse(fen: string, options?: AnalyseOptions): Promise<EngineEvaluation>;
  close(): void;
}

/** Options of `evaluate`. The limits apply to engines. The default limit is a depth of 16. */
export interface EvaluateOptions<San extends boolean = boolean>
  extends LookupOptions<San>, Limits {
  /**
   * Number of variations. Default 1. The deepest evaluation of the database with so many variations is the answer. If there is none, an
   * engine searches; without an engine, the deepest evaluation with the most variations is the answer.
   */
  multiPv?: number | undefined;
  /**
   * A known evaluation of an engine. Is returned if it has the requested SAN and reaches one of the limits, or if the search ends
   * before its depth. Only deeper iterations are reported.
   */
  known?: Evaluated | undefined;
  /** Is called after each iteration of an engine, for a search that improves while its position is shown. */
  onInfo?: ((found: Evaluated) => void) | undefined;
}

/** Options of `openUciEngine`. */
export interface UciEngineOptions {
  /** Starts a Worker that speaks UCI. */
  worker: () => EngineWorker | Promise<EngineWorker>;
  /** Name and version of the engine, under which `analyseGame` stores its results. */
  name: string;
  /** Number of Workers. Default 1. */
  workers?: number | undefined;
  /** UCI options by name, such as `{ Hash: 32 }`. */
  options?: Readonly<Record<string, string | number | boolean>> | undefined;
}
