// Types of endgame tables.

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
  /** The legal moves, best move first. Winning moves are in the order of their distance. */
  moves: EndgameMove[];
  from: "endgames";
}

/** Options of `probe`, `probeMany` and `line`. */
export interface ProbeOptions {
  /** Aborts the probe. */
  signal?: AbortSignal | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
}
