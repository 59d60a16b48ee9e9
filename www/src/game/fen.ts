/** Reads FENs. Errors name the wrong field. */
import { Chess, IllegalSetup, type Position } from "chessops/chess";
import { InvalidFen, parseFen } from "chessops/fen";
import { clip, InputError } from "../text/words";

/** Whether a text is a FEN: it begins with ranks joined by slashes, which a PGN never does. */
export function looksLikeFen(text: string): boolean {
  const board = text.split(/[\s_]/, 1)[0] ?? "";
  return (board.match(/\//g)?.length ?? 0) >= 3 && !/[[:]/.test(board);
}

/** Returns the position of a FEN. Throws an `InputError`. */
export function positionOf(fen: string): Position {
  const setup = parseFen(fen);
  if (setup.isErr) {
    const [at, name, usual] = FIELDS[setup.error.message] ?? [
      6,
      "text after six fields",
      "absent",
    ];
    const found = clip(fen.split(/[\s_]+/)[at]);
    throw new InputError(`FEN, ${name}: “${found}” should be ${usual}.`);
  }
  if (setup.value.pockets || setup.value.remainingChecks)
    throw new InputError(
      "This FEN is of a chess variant; only standard chess and Chess960 are known here.",
    );
  const position = Chess.fromSetup(setup.value);
  if (position.isErr)
    throw new InputError(
      SETUPS[position.error.message] ?? "This position cannot be played on.",
    );
  return position.value;
}

const BOARD = [0, "board", "eight ranks of eight squares"] as const;
/** The wrong field by the error: its number, its name, and what it should be. */
const FIELDS: Record<
  string,
  readonly [at: number, name: string, usual: string]
> = {
  [InvalidFen.Board]: BOARD,
  [InvalidFen.Pockets]: BOARD,
  [InvalidFen.Turn]: [1, "side to move", "w or b"],
  [InvalidFen.Castling]: [2, "castling", "-, or letters such as KQkq"],
  [InvalidFen.EpSquare]: [3, "en passant", "- or a square such as e3"],
  [InvalidFen.Halfmoves]: [4, "half-move clock", "a number"],
  [InvalidFen.Fullmoves]: [5, "move number", "a number"],
};

/** Why no game can start from a position. */
const SETUPS: Record<string, string> = {
  [IllegalSetup.Empty]: "The board is empty.",
  [IllegalSetup.Kings]: "Each side needs exactly one king.",
  [IllegalSetup.OppositeCheck]:
    "The side that is not to move is in check already.",
  [IllegalSetup.PawnsOnBackrank]:
    "There is a pawn on the first or the last rank.",
};
