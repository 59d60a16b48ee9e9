// Messages between the page and the Worker of the engine.

import type { ErrorFields } from "../shared/errors.js";
import type { Evaluation, Pv } from "../shared/types.js";

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
> extends Evaluation<San> {
  /** Origin of the evaluation. */
  from: "engine";
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** Length of the longest variation searched, in plies. */
  deepest: number;
  /** Nodes searched. */
  nodes: number;
  /** Duration of the search. */
  milliseconds: number;
  /** Whether the position occurred before in the game of `moves`. Omitted if it did not. */
  isRepeated?: true | undefined;
  /** With `elo`, after the search: the variation that a player of this rating chooses. */
  chosen?: Pv<San> | undefined;
}

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
