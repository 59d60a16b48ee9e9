// What the page and the engine's Worker say to each other.

import type { ErrorFields } from "./errors.js";
import type { Evaluation, Pv } from "./types.js";

/** What a search found, or has found so far. */
export interface EngineEvaluation<San extends boolean = boolean> extends Evaluation<San> {
  /** Where it comes from. */
  from: "engine";
  /** The position: canonical, the first four fields of FEN. */
  fen: string;
  /** The longest line that was looked at, in plies. */
  deepest: number;
  /** Nodes searched. */
  nodes: number;
  /** How long it took. */
  milliseconds: number;
  /** With `elo`, once the search is over: the line that a player of that rating goes for. */
  chosen?: Pv<San> | undefined;
}

/** A search. Limits are 0 if there are none; moves have blanks between them. */
export interface Search {
  id: number;
  fen: string;
  moves: string;
  searchMoves: string;
  depth: number;
  nodes: number;
  movetime: number;
  multiPv: number;
  chess960: boolean;
  san: boolean;
  /** The rating of the player who thinks; 0: full strength. */
  elo: number;
  seed: number;
  /** Whether each iteration is told of. */
  tells: boolean;
}

export type ToWorker =
  | { module: WebAssembly.Module; memoryBytes: number }
  | { stop: number }
  | { clear: true }
  | Search;

export interface FromWorker {
  id: number;
  value?: EngineEvaluation | undefined;
  /** After a fatal one the Worker is of no use. */
  error?: ErrorFields & { isFatal?: boolean };
  isOver: boolean;
}
