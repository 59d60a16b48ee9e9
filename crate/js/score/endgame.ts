// Scores of endings that tables know.

/** The result of an ending for the side to move. The tables of `shelfish/endgames` return it. */
export interface Ending {
  /** FEN of the position, with at least two fields. */
  readonly fen: string;
  readonly outcome: string;
  readonly moves: ReadonlyArray<{ readonly uci: string }>;
}

/** Centipawns of an ending that tables call won, as Stockfish shows them. */
const TABLE_WIN = 20_000;

/** Maximum number of pieces of endgame tables. */
export const MAX_TABLE_PIECES = 7;

/** Returns the number of pieces of a FEN. */
export const countPieces = (fen: string): number =>
  (/^\S*/.exec(fen.trim())![0].match(/[a-z]/gi) ?? []).length;

/** Returns the side that wins an ending. `undefined` for a draw, also by the 50-move rule. */
export function endingWinner({
  fen,
  outcome,
}: Pick<Ending, "fen" | "outcome">): "white" | "black" | undefined {
  const isWhite = fen.trim().split(/\s+/)[1] === "w";
  if (/^(maybe-)?win$/.test(outcome)) return isWhite ? "white" : "black";
  if (/^(maybe-)?loss$/.test(outcome)) return isWhite ? "black" : "white";
  return undefined;
}

/** Returns the score of an ending from White's point of view: centipawns, winning chances, and the result of best play as text. */
export function endingScore(ending: Pick<Ending, "fen" | "outcome">): {
  cp: number;
  chances: number;
  text: string;
} {
  const winner = endingWinner(ending);
  if (!winner) return { cp: 0, chances: 0, text: "½-½" };
  return winner === "white"
    ? { cp: TABLE_WIN, chances: 1, text: "1-0" }
    : { cp: -TABLE_WIN, chances: -1, text: "0-1" };
}
