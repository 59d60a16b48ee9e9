// Types of the evaluator.

import type { Endgames } from "../endgames/endgames.js";
import type { EndgameResult } from "../endgames/types.js";
import type { Engine } from "../engine/engine.js";
import type { EngineWorker } from "../engine/messages.js";
import type { ShelfishError } from "../shared/errors.js";
import type { Limits } from "../shared/options.js";
import type { Evaluation, PositionEval } from "../shared/types.js";

/** An evaluation and its origin. */
export interface Evaluated<
  San extends boolean = boolean,
> extends Evaluation<San> {
  /** `endgames`: endgame tables, whose result is exact. Depth and nodes are 0. */
  from: "endgames" | "database" | "engine" | "stockfish";
  /** The canonical position: the first four fields of FEN. If Stockfish answers without an engine, the position as given. */
  fen: string;
  /** Duration of the search of an engine. */
  milliseconds?: number | undefined;
  /** The exact result of endgame tables, and of all legal moves. */
  endgame?: EndgameResult | undefined;
  /** The error of the database, if the database failed and an engine answered. */
  databaseError?: ShelfishError | undefined;
}

/** Options of `openEvaluator`. */
export interface EvaluatorOptions {
  /** A database of `shelfish` or `shelfish/worker`, which is asked first. `lookupMany` is needed by `evaluateMany`. */
  database?: EvaluatorDatabase | null | undefined;
  /**
   * Endgame tables of `shelfish/endgames`, or a function that opens them when a position has few enough pieces. They are asked
   * first. Positions that they do not contain, and positions whose tables fail, are evaluated by the database and the engine.
   */
  endgames?:
    EvaluatorEndgames | (() => Promise<EvaluatorEndgames>) | null | undefined;
  /** Maximum number of pieces of the tables, before they are open. Default 7. */
  endgamePieces?: number | undefined;
  /** An engine, or a function that opens an engine when it is needed. */
  engine?:
    EvaluatorEngine | (() => Promise<EvaluatorEngine>) | null | undefined;
  /**
   * Starts a Worker that speaks UCI, for `evaluate(fen, { stockfish: true })`: such as
   * `new Worker("/stockfish/stockfish-19-lite-single.js")` of the package `stockfish`. Called when it is needed.
   */
  stockfish?: (() => EngineWorker | Promise<EngineWorker>) | null | undefined;
  /**
   * Whether to store the results of engines in IndexedDB, separate from the cache of databases: `true`, or the name of the
   * store (default `"shelfish-engine"`) and its maximum number of positions (default 20,000). Default `false`.
   */
  indexedDB?:
    | boolean
    | { name?: string | undefined; positions?: number | undefined }
    | undefined;
}

/** The part of endgame tables that the evaluator needs. */
export type EvaluatorEndgames = Pick<Endgames, "maxPieces" | "probeMany">;

/** The part of a database that the evaluator needs. */
export interface EvaluatorDatabase {
  lookup(fen: string, options?: object): Promise<PositionEval | null>;
  lookupMany?(
    fens: string[],
    options?: object,
  ): Promise<ReadonlyArray<PositionEval | null | ShelfishError>>;
}

/** The part of an engine that the evaluator needs. */
export type EvaluatorEngine = Pick<Engine, "analyse" | "analyseMany" | "close">;

/** Options of `evaluate`. The limits apply to engines. The default limit is a depth of 16. */
export interface EvaluateOptions<
  San extends boolean = boolean,
  Stockfish extends boolean = boolean,
> extends Limits {
  /** Number of variations of engines. Default 1. See `minPvs` for the database. */
  multiPv?: number | undefined;
  /** Excludes evaluations of the database of less depth. Default 0. */
  minDepth?: number | undefined;
  /** Excludes evaluations of the database with fewer nodes, in thousands. Default 0. */
  minKnodes?: number | undefined;
  /** Excludes evaluations of the database with fewer variations, unless they contain all legal moves. Default 1. */
  minPvs?: number | undefined;
  /** Asks Stockfish instead of the engine. */
  stockfish?: Stockfish | undefined;
  /**
   * A known evaluation of an engine. Is returned if it has the requested SAN and reaches one of the limits, or if the search ends
   * before its depth. Only deeper iterations are reported.
   */
  known?: Evaluated | undefined;
  /** Aborts the evaluation. */
  signal?: AbortSignal | undefined;
  /** Is called after each iteration of an engine, for a search that improves while its position is shown. */
  onInfo?: ((found: Evaluated) => void) | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Whether to add lines in SAN. Lines of Stockfish have no SAN. */
  san?: San | undefined;
}

/** Options of `evaluateMany`. The default limit is a depth of 12. */
export interface EvaluateManyOptions<
  San extends boolean = boolean,
> extends Omit<EvaluateOptions<San>, "stockfish" | "known" | "onInfo"> {
  /** Is called after each position, with its index in the list. */
  onAnswer?:
    | ((index: number, answer: Evaluated<San> | null | ShelfishError) => void)
    | undefined;
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

/** Options of `analyseSequence`. */
export interface UciSequenceOptions extends Limits {
  /** Number of variations, best first. Default 1. */
  multiPv?: number | undefined;
  /** Aborts the searches. */
  signal?: AbortSignal | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Is called after each position, with its index in the list. */
  onAnswer?: ((index: number, found: Evaluated) => void) | undefined;
}
