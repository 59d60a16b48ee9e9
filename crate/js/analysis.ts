// The analysis of whole games: loads its WASM module and gives what it exports names and types.

import { unlessAborted } from "./abort.js";
import { type ErrorFields, ShelfishError } from "./errors.js";
import { ready } from "./load.js";
import { annotate, imports, read, report, start } from "./shelfish_analysis.js";
import type { PositionEval, Wasm } from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type { Wasm } from "./types.js";

/** What is known of a position. It has either `cp` or `mate`, from White's point of view. */
export interface KnownEval {
  /** Centipawns; positive is good for White. */
  cp?: number | undefined;
  /** Moves to mate; positive when White mates, never 0. */
  mate?: number | undefined;
  /** Search depth in plies, if it is known. */
  depth?: number | undefined;
  /** Nodes searched, in thousands. Not looked at. */
  knodes?: number | undefined;
  /** The best line in UCI, as long as it is known. Castling may be written either way. */
  line?: readonly string[] | undefined;
  /** Who evaluated the position. Not used. */
  from?: "database" | "pgn" | "engine" | "stockfish" | undefined;
}

/** A game to report on. */
export interface Game {
  /** The position before the first move; the starting position of chess if there is none. */
  fen?: string | undefined;
  /** Its moves in UCI. Castling may be written either way, `e1g1` or `e1h1`. */
  moves: readonly string[];
  /** One evaluation more than moves: that of the position before the first move, and those after each; `null` is a gap. */
  evaluations: readonly (KnownEval | null | undefined)[];
}

/** What is said of a bad move: `?!`, `?` or `??`. */
export type Judgment = "inaccuracy" | "mistake" | "blunder";

/**
 * What is known of a move. Where the position before or after it is not known, or the two evaluations contradict each
 * other, the figures are `null`.
 */
export interface MoveReport {
  /** The number of the move, from 1, and of the evaluation after it. */
  ply: number;
  /** The move in SAN. */
  san: string;
  /** Winning chances that the move lost, from 0 to 2. */
  loss: number | null;
  /** Centipawns that the move lost, no score beyond ±1000 counting as more. */
  centipawns: number | null;
  /** The accuracy of the move in percent. */
  accuracy: number | null;
  /** What is said of the move, if it was bad. */
  judgment: Judgment | null;
  /** Whether it would be judged, but that evaluations contradict each other, so that nothing is said. */
  withheld: boolean;
  /** The best move of the evaluation before it in UCI, if another was played. */
  best: string | null;
}

/** The moves of a side together. */
export interface SideReport {
  /** Its moves. */
  moves: number;
  /** How many of them the figures rest on. */
  judged: number;
  /** How many would be judged, but that evaluations contradict each other. */
  withheld: number;
  /** `?!` */
  inaccuracies: number;
  /** `?` */
  mistakes: number;
  /** `??` */
  blunders: number;
  /** The mean of the centipawns that its moves lost. */
  averageCentipawnLoss: number | null;
  /** Its accuracy in percent. */
  accuracy: number | null;
}

/** What is known of a game. */
export interface Report {
  /** One for each move. */
  moves: MoveReport[];
  /** Moves before the middlegame and the endgame begin, if they do. */
  phases: { middlegame: number | null; endgame: number | null };
  white: SideReport;
  black: SideReport;
  /** Positions of the game, one more than moves. */
  positions: number;
  /** How many of them are known: evaluated, over by the rules, or the starting position. */
  known: number;
}

/** A game as a PGN has it. */
export interface PgnGame {
  /** Names and values of its tags, in order. */
  tags: [name: string, value: string][];
  /** The moves of the main line in UCI, castling as `e1h1`. */
  moves: string[];
  /** The FENs (four fields) of its positions, one more than moves; `positions[0]` is the first. */
  positions: string[];
  /** The evaluations in its comments, `[%eval 0.17]`, as many as positions. */
  evaluations: (KnownEval | null)[];
}

const MODULE = {
  imports,
  start,
  entry: "shelfish/analysis",
  file: "shelfish_analysis_bg.wasm",
  call: "openAnalysis({ wasm })",
};

/** The best line of an answer of a database; `null` of what it does not have, or could not answer. */
export function knownEval(answer: PositionEval | null | undefined | ShelfishError): KnownEval | null {
  if (!answer || !("best" in answer)) return null;
  const { depth, knodes, pvs } = answer.best;
  const [{ cp, mate, uci }] = pvs;
  return { cp, mate, depth, knodes, line: uci, from: "database" };
}

const usage = (message: string) => new ShelfishError({ code: "usage", message });
const listed = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Moves as one text. */
function words(name: string, moves: unknown): string {
  if (!listed(moves)) throw usage(`${name}: expected a list of moves in UCI, found ${typeof moves}`);
  const n = moves.findIndex((move) => typeof move !== "string" || !/^\S+$/.test(move));
  if (n >= 0) throw usage(`${name}[${n}]: expected a move in UCI, found ${String(moves[n]).slice(0, 20)}`);
  return moves.join(" ");
}

/** Evaluations as the module takes them: three numbers each, and lines of text. */
function flat(evaluations: unknown): [numbers: Float64Array, lines: string] {
  if (!listed(evaluations)) throw usage(`evaluations: expected a list, found ${typeof evaluations}`);
  const numbers = new Float64Array(3 * evaluations.length).fill(NaN);
  const lines = evaluations.map((entry: unknown, n) => {
    if (entry === null || entry === undefined) return "";
    const { cp, mate, depth, line } = entry as KnownEval;
    const score = cp ?? mate;
    if ((cp ?? mate) !== (mate ?? cp) || !Number.isInteger(score) || Math.abs(score!) > 0x7fffffff) {
      throw usage(`evaluations[${n}]: expected a whole number as either cp or mate`);
    }
    if (depth !== undefined && !(depth >= 0)) throw usage(`evaluations[${n}].depth: expected plies, found ${String(depth)}`);
    numbers.set([cp ?? NaN, cp === undefined || cp === null ? score! : NaN, depth ?? NaN], 3 * n);
    return line ? words(`evaluations[${n}].line`, line) : "";
  });
  return [numbers, lines.join("\n")];
}

/** Does something in the module; what goes wrong there is a plain object. */
function asked<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw typeof (error as ErrorFields | undefined)?.code === "string" && !(error instanceof ShelfishError)
      ? new ShelfishError(error as ErrorFields)
      : error;
  }
}

/** Reports on games and annotates them. {@link openAnalysis} returns it. */
export interface Analysis {
  /**
   * Reports on a game: the loss of each move, inaccuracies, mistakes and blunders, and each side's accuracy and average
   * centipawn loss, by the formulas of Lichess. A position in which the game is over needs no evaluation.
   *
   * Throws a {@link ShelfishError} with code `fen` or `usage`.
   */
  report(game: Game): Report;

  /**
   * Returns the first game of a PGN with evaluations as `[%eval score,depth]`, glyphs for bad moves, and better lines as
   * variations. Replaces other evaluations and keeps the rest of the text. `evaluations` are as for `report`.
   *
   * Throws a {@link ShelfishError} with code `pgn` or `usage`.
   */
  annotate(pgn: string, evaluations: readonly (KnownEval | null | undefined)[]): string;

  /**
   * Reads the first game of a PGN: the moves that `report` takes, and the positions to look up.
   *
   * Throws a {@link ShelfishError} with code `pgn`.
   */
  read(pgn: string): PgnGame;
}

const analysis: Analysis = {
  report: ({ fen, moves, evaluations }) => asked(() => report(fen ?? undefined, words("moves", moves), ...flat(evaluations))),
  annotate: (pgn, evaluations) => asked(() => annotate(String(pgn), ...flat(evaluations))),
  read: (pgn) => asked(() => read(String(pgn))),
};

/** How the analysis is loaded. */
export interface AnalysisOptions {
  /** Source of the WASM module, in the forms that `openDatabase` takes. */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the loading. */
  signal?: AbortSignal | undefined;
}

/**
 * Loads the WASM module of the analysis, once.
 *
 * Rejects with a {@link ShelfishError}.
 */
export async function openAnalysis({ wasm, signal }: AnalysisOptions = {}): Promise<Analysis> {
  await unlessAborted(ready(MODULE, wasm), signal, "loading");
  return analysis;
}
