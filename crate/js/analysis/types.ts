// Types of reports and games.

import type { Wasm } from "../shared/types.js";

/** A known evaluation of a position. It has either `cp` or `mate`, from White's point of view. */
export interface KnownEval {
  /** Centipawns; positive is good for White. */
  cp?: number | undefined;
  /** Moves to mate; positive if White mates, never 0. */
  mate?: number | undefined;
  /** Search depth in plies, if it is known. */
  depth?: number | undefined;
  /** Nodes searched, in thousands. Not used. */
  knodes?: number | undefined;
  /** The best line in UCI. Castling may have either notation. */
  line?: readonly string[] | undefined;
  /** Origin of the evaluation. Not used. */
  from?: "database" | "pgn" | "engine" | "stockfish" | undefined;
}

/** A game to report on. */
export interface Game {
  /** The position before the first move. Default: the starting position of chess. */
  fen?: string | undefined;
  /** The moves in UCI. Castling may have either notation, `e1g1` or `e1h1`. */
  moves: readonly string[];
  /** Evaluations of the position before the first move and after each move; `null` if unknown. */
  evaluations: readonly (KnownEval | null | undefined)[];
}

/** The judgment of a bad move: `?!`, `?` or `??`. */
export type Judgment = "inaccuracy" | "mistake" | "blunder";

/**
 * The report on a move. Figures are `null` if the position before or after the move is unknown, or if the two evaluations
 * contradict each other.
 */
export interface MoveReport {
  /** Number of the move, from 1, and index of the evaluation after the move. */
  ply: number;
  /** The move in SAN. */
  san: string;
  /** Winning chances that the move lost, from 0 to 2. */
  loss: number | null;
  /** Centipawns that the move lost. Scores are limited to ±1000. */
  centipawns: number | null;
  /** Accuracy of the move, in percent. */
  accuracy: number | null;
  /** Judgment, if the move was bad. */
  judgment: Judgment | null;
  /** Whether the judgment is withheld because evaluations contradict each other. */
  withheld: boolean;
  /** Best move in UCI, if the move was not the best. */
  best: string | null;
}

/** The report on the moves of a side. */
export interface SideReport {
  /** Number of moves. */
  moves: number;
  /** Number of moves on which the figures are based. */
  judged: number;
  /** Number of moves whose judgment is withheld. */
  withheld: number;
  /** `?!` */
  inaccuracies: number;
  /** `?` */
  mistakes: number;
  /** `??` */
  blunders: number;
  /** Mean of the centipawns that the moves lost. */
  averageCentipawnLoss: number | null;
  /** Accuracy, in percent. */
  accuracy: number | null;
}

/** The report on a game. */
export interface Report {
  /** Reports on the moves. */
  moves: MoveReport[];
  /** Plies before the middlegame and the endgame, if the game reached them. */
  phases: { middlegame: number | null; endgame: number | null };
  white: SideReport;
  black: SideReport;
  /** Number of positions. */
  positions: number;
  /** Number of known positions: evaluated, over by the rules, or the starting position. */
  known: number;
}

/** A game of a PGN. */
export interface PgnGame {
  /** Names and values of the tags, in order. */
  tags: [name: string, value: string][];
  /** Moves of the main line in UCI, with castling as `e1h1`. */
  moves: string[];
  /** FENs (four fields) of the positions before the first move and after each move. */
  positions: string[];
  /** Evaluations in the comments of the positions, such as `[%eval 0.17]`. */
  evaluations: (KnownEval | null)[];
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

/** Options of `openAnalysis`. */
export interface AnalysisOptions {
  /** Source of the WASM module, in the forms that `openDatabase` takes. */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the loading. */
  signal?: AbortSignal | undefined;
}
