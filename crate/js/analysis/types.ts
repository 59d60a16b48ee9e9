// Types of reports and games.

import type {
  CallOptions,
  EngineOpener,
  EndgameTables,
  Ending,
  Evaluated,
  Evaluation,
  EvaluationSource,
  EvaluationOrigin,
  Opener,
  Pv,
  Score,
  SequenceOptions,
  Wasm,
} from "../shared/types.js";

/**
 * A known evaluation of a position. Answers of a database, endgame tables or an engine are such evaluations. Only the first variation
 * and the score of the second count; the second proves a `mark`.
 */
export interface KnownEval {
  /**
   * Origin of the evaluation. `uci` is an engine other than the engine of this package. `endgames` are endgame tables, whose result
   * is exact: 20,000 centipawns for a win of White, -20,000 for a win of Black, 0 for a draw. Default `database`.
   */
  from?: EvaluationOrigin | "pgn" | "uci" | undefined;
  /** Search depth in plies, if it is known. */
  depth?: number | undefined;
  /** Nodes searched, in thousands. A search of fewer than 100 is only a hint. */
  knodes?: number | undefined;
  /** The best variation is first. Castling in `uci` may have either notation. */
  pvs: readonly (Score & {
    readonly score?: string | undefined;
    readonly uci?: readonly string[] | undefined;
  })[];
  /** Whether the score is a result of `shelfish/engine` itself: it is then converted to the scale of Stockfish. Results of `analyseGame` are converted. */
  isUnscaled?: boolean | undefined;
}

/** An evaluation that the analysis returns. */
export type FoundEval = KnownEval & {
  from: NonNullable<KnownEval["from"]>;
  pvs: [Pv, ...Pv[]];
};

/** A game to report on. */
export interface Game {
  /** The position before the first move. Default: the starting position of chess. */
  fen?: string | undefined;
  /** The moves in UCI. Castling may have either notation, `e1g1` or `e1h1`. */
  moves: readonly string[];
  /** Evaluations of the position before the first move and after each move; `null` or an error if unknown. */
  evaluations: readonly (KnownEval | Error | null | undefined)[];
}

/** The judgment of a bad move: `?!`, `?` or `??`. */
export type Judgment = "inaccuracy" | "mistake" | "blunder";

/**
 * The mark of a good move. `only`: every other legal move loses at least 0.2 winning chances. `great`: the only move that keeps a
 * win (winning chances of at least 0.5, 3 pawns) or a draw (more than −0.5). The evidence exceeds these bounds by 0.1. A
 * move out of check, a move of a piece that the last move attacked, a capture that does not give more than it takes, and the only
 * legal move have no mark.
 */
export type Mark = "only" | "great";

/**
 * An explanation of a bad move: a claim that lines, exchange values or the rules prove. `loses` and `misses` are about a piece, a
 * fork begins with a move that attacks several pieces, a threat is carried out if the other side passes, and `draws` is a stalemate
 * or too little material. `givesAwayWin` and `givesAwayDraw` follow from endgame tables.
 */
export interface Explanation {
  /** Kind of the claim. */
  kind:
    | "loses"
    | "allowsFork"
    | "allowsPromotion"
    | "allowsMate"
    | "misses"
    | "missesFork"
    | "missesPromotion"
    | "missesMate"
    | "allowsThreat"
    | "missesThreat"
    | "draws"
    | "givesAwayWin"
    | "givesAwayDraw";
  /** The claim without the move, such as `loses the knight on f6`. */
  text: string;
  /** Moves to mate. */
  mate: number | null;
  /** The piece that is won or threatened, or the pawn that promotes. */
  role: "pawn" | "knight" | "bishop" | "rook" | "queen" | null;
  /** Square of the piece before `line`. `null` if exchanges leave open which of several pieces is lost. */
  square: string | null;
  /** Whether `line` begins before or after the explained move. */
  begins: "before" | "after";
  /** The moves that prove the claim, in UCI. Only the beginning of a long mate is given. */
  line: string[];
  /** The same moves in SAN. */
  san: string[];
}

/**
 * The report on a move. Figures are `null` if the position before or after the move is unknown, or if the move is not settled.
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
  /** Judgment, if the move was bad. It is provisional if the move is not settled. */
  judgment: Judgment | null;
  /** Mark of a settled good move. `null` without a deep search with two lines that proves it. */
  mark: Mark | null;
  /** Whether the figures are final. Evaluations of different origins, or of short searches, do not settle a move. */
  settled: boolean;
  /** Best move, if the move was not the best. */
  best: { uci: string; san: string } | null;
  /** Explanation of a settled judgment. `null` if no claim is proven. */
  explanation: Explanation | null;
}

/** The report on the moves of a side. */
export interface SideReport {
  /** Number of moves. */
  moves: number;
  /** Number of settled moves, on which the figures are based. */
  judged: number;
  /** Number of provisional judgments, which count in no figure. */
  provisional: number;
  /** `?!` */
  inaccuracies: number;
  /** `?` */
  mistakes: number;
  /** `??` */
  blunders: number;
  /** Mean of the centipawns that the moves lost. `null` if less than 75 % of the moves are settled. */
  averageCentipawnLoss: number | null;
  /** Accuracy, in percent. `null` if less than 75 % of the moves are settled. */
  accuracy: number | null;
  /** Accuracy in each phase, in percent, by the formula of the game. `null` if fewer than 75 % of the moves are settled. */
  accuracyByPhase: {
    opening: number | null;
    middlegame: number | null;
    endgame: number | null;
  };
  /** Number of only moves that are not great moves. */
  onlyMoves: number;
  /** Number of great moves. */
  greatMoves: number;
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
  /** Whether every move is settled, so that the report is final. */
  settled: boolean;
}

/** The part of an engine that the analysis of a game needs. The engine of `shelfish/engine` has it. */
export interface GameEngine {
  /** Name and version, under which results are stored. */
  readonly name: string;
  /** Searches positions in order, and forgets earlier searches first. */
  analyseSequence(
    fens: string[],
    options: SequenceOptions<GameEngineResult>,
  ): Promise<readonly GameEngineResult[]>;
}

/** A result of an engine. */
export type GameEngineResult = Evaluation & Partial<Pick<Evaluated, "from">>;

/** Options of `analyseGame`. */
export interface AnalyseGameOptions {
  /** A database, whose deep evaluations replace searches. */
  database?: Opener<EvaluationSource>;
  /** Endgame tables, which are opened for a game with at most seven pieces at its end. Their results replace evaluations. */
  endgames?: Opener<EndgameTables<Ending>>;
  /** An engine. Moves between unlike evaluations remain provisional without an engine. */
  engine?: EngineOpener<GameEngine>;
  /** An engine for the first pass, which settles nothing: a small engine shows scores while a larger `engine` loads. Default `engine`. */
  draft?: EngineOpener<GameEngine>;
  /**
   * Nodes for each position of a move that is near an inaccuracy or worse. Up to 1.6 times as many settle a doubt. Default
   * 250,000.
   */
  nodes?: number | undefined;
  /** Whether to use evaluations in the comments of the PGN. Default `false`. */
  usePgnEvals?: boolean | undefined;
  /** Whether the result contains the annotated `pgn`. Default `false`. */
  annotate?: boolean | undefined;
  /** Stores the results of the engine in IndexedDB, if the host has it. Default `true`. */
  indexedDB?:
    | boolean
    | { name?: string | undefined; sequences?: number | undefined }
    | undefined;
  /** Is called before the lookups, with a preliminary report after them, and after each answer of the engine. */
  onProgress?: ((progress: GameProgress) => unknown) | undefined;
  /** Stops the analysis, which rejects with code `aborted`. A later call continues if there is a store. */
  signal?: AbortSignal | undefined;
}

/** The state of an analysis. */
export interface GameProgress {
  /** Pass of the engine, from 1 to `passes`; 0 for lookups. The report is final before passes 5 and 6, which search for marks. */
  pass: number;
  /** Number of passes: 6 with an engine, otherwise 0. */
  passes: number;
  /** Positions of the pass that were looked up or searched. */
  done: number;
  /** Positions of the pass. */
  of: number;
  /** Returns the report so far. */
  report(): Report;
  /** Returns the evaluations so far. */
  evaluations(): (FoundEval | null)[];
}

/** The analysis of a game. */
export interface GameAnalysis {
  /** The report. It is the same in each run with the same database, engine and nodes. */
  report: Report;
  /** The evaluations that count, one for each position; `null` if unknown. */
  evaluations: (FoundEval | null)[];
  /** The game with evaluations, glyphs and explanations of settled judgments, and better lines; only with `annotate`. */
  pgn?: string | undefined;
  /** The error of the database, if positions could not be looked up. */
  databaseError?: Error | undefined;
  /** The error of the endgame tables, if positions could not be looked up. */
  endgamesError?: Error | undefined;
}

/** A game of a PGN, as plain data. */
export interface PgnGame {
  /** Number of the game in the file, and of the line in which it begins, from 1. */
  number: number;
  line: number;
  /** The text of the game. */
  text: string;
  /** Names and values of the tags, in order. */
  tags: [name: string, value: string][];
  /** The position before the first move, if the game has the tag `FEN`. */
  fen?: string | undefined;
  /** Moves of the main line in UCI, up to the error. */
  moves: string[];
  /** FENs (four fields) of the positions before the first move and after each move. */
  positions: string[];
  /** Evaluations in the comments of the positions, such as `[%eval 0.17]`. */
  evaluations: (FoundEval | null)[];
  /** Comments before the first move. */
  comments: string[];
  /** The moves of the main line with their annotations. */
  tree: PgnMove[];
  /** The result after the moves. */
  result: "1-0" | "0-1" | "1/2-1/2" | "*" | null;
  /** Whether the side to move is in check before the first move. */
  isCheck: boolean;
  /** Whether the last position is a stalemate. */
  isStalemate: boolean;
  /** The error that ends the main line, with its line and column, and its offset in `text`. */
  error: string | null;
  errorAt: number | null;
  /** Numbers of lines that are no tags, words that are no moves, and variations that end at an illegal move. */
  skipped: [tags: number, words: number, variations: number];
}

/** The parts of a game that its analysis needs. `text` is needed for `annotate`. */
export type GameToAnalyse = Pick<PgnGame, "fen" | "moves" | "positions"> &
  Partial<Pick<PgnGame, "text">> &
  Pick<Game, "evaluations">;

/** A move of a game with its annotations. */
export interface PgnMove {
  san: string;
  /** The move in UCI. */
  uci: string;
  /** Numeric annotation glyphs; 1 to 6 are `!`, `?`, `!!`, `??`, `!?`, `?!`. */
  nags: number[];
  /** Comments before the move, if it is the first of a variation. */
  before: string[];
  /** Comments after the move, with commands such as `[%clk 0:01:30]`. */
  comments: string[];
  /** Alternatives to the move. */
  variations: PgnMove[][];
}

/** Options of functions that read moves. */
export type ReadOptions = Pick<CallOptions, "castling">;

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
   * Returns a game, or the first game of a PGN, with evaluations as `[%eval score,depth]`, glyphs for bad moves, explanations as comments, and
   * better lines as variations. Replaces other evaluations and keeps the rest of the text. `evaluations` are as for `report`.
   *
   * Throws a {@link ShelfishError} with code `pgn` or `usage`.
   */
  annotate(game: string | PgnGame, evaluations: Game["evaluations"]): string;

  /**
   * Reads the first game of a PGN, as all common readers read it. A game with an illegal move contains the moves before it.
   *
   * Throws a {@link ShelfishError} with code `pgn` if there is no game.
   */
  read(pgn: string, options?: ReadOptions): PgnGame;

  /** Reads the games of a file one at a time, in UTF-8, UTF-16 or Windows-1252. Games with errors are included. */
  readGames(
    file: string | Uint8Array,
    options?: ReadOptions,
  ): Iterable<PgnGame>;

  /** Returns the legal move that a person typed in a position, in UCI. */
  findMove(
    fen: string,
    text: string,
    options?: ReadOptions,
  ): string | undefined;

  /**
   * Analyses a game, or the first game of a PGN, until its report is final: looks its positions up, and searches the other positions.
   * Moves whose loss is near or above an inaccuracy are searched again with more nodes, before and after the move, until two
   * passes agree. Two short passes with two lines then look for only moves and great moves.
   *
   * Rejects with a {@link ShelfishError}: `pgn`, `usage`, `aborted`, and the codes of the engine.
   */
  analyseGame(
    game: string | GameToAnalyse,
    options?: AnalyseGameOptions,
  ): Promise<GameAnalysis>;
}

/** Options of `openAnalysis`. */
export interface AnalysisOptions {
  /** Source of the WASM module, in the forms that `openDatabase` takes. */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the loading. */
  signal?: AbortSignal | undefined;
}
