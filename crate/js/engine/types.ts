// Options of the engine.

import type { Limits } from "../shared/options.js";
import type { ShelfishError } from "../shared/errors.js";
import type { Wasm } from "../shared/types.js";
import type { Clock, EngineEvaluation, EngineWorker } from "./messages.js";

/** Options of `openEngine`. */
export interface EngineOptions {
  /** Number of Workers. Each Worker searches a different position. Default 1. A Worker starts when it is needed. */
  workers?: number | undefined;
  /** Size of the transposition table of each Worker, in bytes. Default 16 MiB, at most 256 MiB. */
  memoryBytes?: number | undefined;
  /**
   * Starts a Worker whose script imports `shelfish/engine-worker`. Needed if the file `engine-worker.js` next to the
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
export interface AnalyseOptions<San extends boolean = boolean> extends Limits {
  /** Depth in plies, at most 127. */
  depth?: number | undefined;
  /** Exact number of nodes. */
  nodes?: number | undefined;
  /** Milliseconds. */
  movetime?: number | undefined;
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
   * random choice among moves that it considers about equal. Other limits also apply.
   */
  elo?: number | undefined;
  /** Seed of the random choice with `elo`, a whole number from 0. Default: a new seed each time. */
  seed?: number | undefined;
  /** Ends the search within about 20 ms. A search with a limit rejects with code `aborted`. */
  signal?: AbortSignal | undefined;
  /** Is called after each iteration. */
  onInfo?: ((found: EngineEvaluation<San>) => void) | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Whether to add lines in SAN. Default `false`. */
  san?: San | undefined;
}

/** Options of a search of several positions. */
export interface AnalyseManyOptions<San extends boolean = boolean> extends Omit<
  AnalyseOptions<San>,
  "moves" | "searchMoves" | "clock" | "mate" | "elo" | "seed" | "onInfo"
> {
  /** Is called after each position, with its index in the list. */
  onAnswer?:
    | ((index: number, answer: EngineEvaluation<San> | ShelfishError) => void)
    | undefined;
}

/** Options of a sequence of searches. */
export interface AnalyseSequenceOptions<
  San extends boolean = boolean,
> extends Omit<
  AnalyseOptions<San>,
  | "moves"
  | "searchMoves"
  | "clock"
  | "mate"
  | "elo"
  | "seed"
  | "onInfo"
  | "movetime"
> {
  /** Is called after each position, with its index in the list. */
  onAnswer?:
    ((index: number, answer: EngineEvaluation<San>) => void) | undefined;
}
