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
  if (setup.isErr) throw new InputError(fenError(setup.error.message, fen));
  if (setup.value.pockets || setup.value.remainingChecks)
    throw new InputError(
      "This FEN is of a chess variant; only standard chess and Chess960 are known here.",
    );
  const position = Chess.fromSetup(setup.value);
  if (position.isErr)
    throw new InputError(
      positionError(position.error.message, setup.value.turn),
    );
  return position.value;
}

function fenError(code: string, fen: string): string {
  const [board = "", turn, castling, enPassant, halfmoves, fullmoves] =
    fen.split(/[\s_]+/);
  switch (code) {
    case InvalidFen.Turn:
      return `FEN, side to move: “${clip(turn)}” should be w or b.`;
    case InvalidFen.Castling:
      return `FEN, castling: “${clip(castling)}” should be -, or letters such as KQkq.`;
    case InvalidFen.EpSquare:
      return `FEN, en passant: “${clip(enPassant)}” should be - or a square such as e3.`;
    case InvalidFen.Halfmoves:
      return `FEN, half-move clock: “${clip(halfmoves)}” should be a number.`;
    case InvalidFen.Fullmoves:
      return `FEN, move number: “${clip(fullmoves)}” should be a number.`;
    case InvalidFen.Board:
    case InvalidFen.Pockets:
      return `FEN, board: ${boardError(board)}.`;
    default:
      return "FEN: there is more text than its six fields.";
  }
}

function boardError(board: string): string {
  const ranks = board.split("/");
  const alien = [...board].find((letter) => !/[pnbrqkPNBRQK1-8/]/.test(letter));
  if (alien)
    return `“${alien}” is neither a piece (pnbrqk PNBRQK) nor a number of empty squares (1 to 8)`;
  if (ranks.length !== 8) return `it has ${ranks.length} ranks instead of 8`;
  for (const [index, rank] of ranks.entries()) {
    const width = [...rank].reduce(
      (sum, letter) => sum + (Number(letter) || 1),
      0,
    );
    if (width !== 8)
      return `rank ${8 - index} (“${rank}”) has ${width} squares instead of 8`;
  }
  return "it cannot be read";
}

function positionError(code: string, turn: string): string {
  const side = turn === "white" ? "White" : "Black";
  switch (code) {
    case IllegalSetup.Empty:
      return "The board is empty.";
    case IllegalSetup.Kings:
      return "Each side needs exactly one king.";
    case IllegalSetup.OppositeCheck:
      return `It is ${side}’s move, but the other king is in check already.`;
    case IllegalSetup.PawnsOnBackrank:
      return "There is a pawn on the first or the last rank.";
    default:
      return "This position cannot be played on.";
  }
}
