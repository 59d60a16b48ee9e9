// Messages between the page and the Worker of the engine.

import type { ErrorFields } from "../shared/errors.js";
import type { Clock, EngineEvaluation } from "../shared/types.js";

/** A search. A limit of 0 is no limit. Moves are separated by spaces. */
export interface Search {
  id: number;
  fen: string;
  moves: string;
  searchMoves: string;
  depth: number;
  nodes: number;
  movetime: number;
  mate: number;
  clock: Record<keyof Clock, number> | undefined;
  multiPv: number;
  chess960: boolean;
  san: boolean;
  /** Rating of the player; 0 for full strength. */
  elo: number;
  seed: number;
  /** Whether to report each iteration. */
  reports: boolean;
}

/** A `WebAssembly.Module`, which TypeScript knows only in browsers. */
export type CompiledModule = object;

export type ToWorker =
  | { module: CompiledModule; memoryBytes: number }
  | { stop: number }
  | { clear: true }
  | Search;

export interface FromWorker {
  id: number;
  value?: EngineEvaluation | undefined;
  /** After a fatal error the Worker is unusable. */
  error?: ErrorFields & { isFatal?: boolean };
  isOver: boolean;
}
