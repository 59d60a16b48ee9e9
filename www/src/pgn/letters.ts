/** Reads moves with piece letters of several languages. */
import { normalizeMove, type Position } from "chessops/chess";
import { parseSan } from "chessops/san";
import { isNormal, type NormalMove } from "chessops/types";
import { parseUci } from "chessops/util";

/** The piece letters of a language for king, queen, rook, bishop and knight. */
export interface Letters {
  readonly language: string;
  readonly pieces: string;
}

/** Piece letters of the PGN standard. */
export const ENGLISH: Letters = { language: "English", pieces: "KQRBN" };
/** Piece letters of other languages; Italian has those of Spanish. A letter has the same meaning in all these languages, but may have another meaning in English. */
export const FOREIGN: readonly Letters[] = [
  { language: "German", pieces: "KDTLS" },
  { language: "French", pieces: "RDTFC" },
  { language: "Spanish or Italian", pieces: "RDTAC" },
  { language: "Dutch", pieces: "KDTLP" },
];

const FIGURINES = ["♔♕♖♗♘♙", "♚♛♜♝♞♟"];
const FIGURINE = /[♔-♟]/u;
// Piece, file, rank, capture, target square, promotion.
const MOVE =
  /^([A-Z♔-♟])?([a-h])?([1-8])?[-–—x:×]?([a-h][1-8])(?:[=/]?\(?([A-Z♔-♟])\)?)?$/u;
const UCI = /^[a-h][1-8][a-h][1-8][qrbn]?$/;
const CASTLING = /^([O0o])([-–—]?)\1(?:\2\1)?$/;

/** Returns the legal move for a word of a PGN, with the piece letters of a language. */
export function moveOf(
  position: Position,
  word: string,
  letters: Letters,
): NormalMove | undefined {
  const text = bare(word);
  if (UCI.test(text)) {
    const move = parseUci(text);
    const legal = move && normalizeMove(position, move);
    return legal && isNormal(legal) && position.isLegal(legal)
      ? legal
      : undefined;
  }
  const san = sanOf(text, letters);
  const move = san === undefined ? undefined : parseSan(position, san);
  if (!move || !isNormal(move)) return undefined;
  // A king's move to its own rook's square is castling only if it is written as castling.
  if (!san?.startsWith("O") && position.board[position.turn].has(move.to))
    return undefined;
  return move;
}

/** Returns the piece letters of a word, without figurines. */
export function piecesOf(word: string): string[] {
  const [, piece, , , , promotion] = MOVE.exec(bare(word)) ?? [];
  return [piece, promotion].filter(
    (letter) => letter !== undefined && !FIGURINE.test(letter),
  ) as string[];
}

/** Whether a word is a null move. */
export const isNull = (word: string): boolean =>
  /^(?:--+|–+|—+|Z0|0000|@@@@|null|pass)$/i.test(word);

function sanOf(text: string, letters: Letters): string | undefined {
  if (CASTLING.test(text))
    return text.replace(/[-–—]/g, "").length === 2 ? "O-O" : "O-O-O";
  const [, piece, file = "", rank = "", to, promotion] = MOVE.exec(text) ?? [];
  const [man, becomes] = [english(piece, letters), english(promotion, letters)];
  if (to === undefined || man === undefined || becomes === undefined)
    return undefined;
  return `${man}${file}${rank}${to}${becomes && `=${becomes}`}`;
}

/** Returns the English letter of a piece; empty for a pawn or if there is no piece. */
function english(
  piece: string | undefined,
  { pieces }: Letters,
): string | undefined {
  if (piece === undefined) return "";
  const alphabet = FIGURINE.test(piece)
    ? FIGURINES.find((figurines) => figurines.includes(piece))
    : pieces;
  const index = alphabet?.indexOf(piece) ?? -1;
  return index === -1 ? undefined : ENGLISH.pieces.charAt(index);
}

/** Removes the marks for check, mate and en passant. */
const bare = (word: string): string =>
  word
    .replace(/[\uFE0E\uFE0F]/g, "")
    .replace(/\s*(?:e\.?p\.?)$/i, "")
    .replace(/(?:[+#†‡]+|mate|ch)$/, "")
    .replace(/(?:e\.?p\.?)$/i, "");
