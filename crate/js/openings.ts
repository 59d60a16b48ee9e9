// Names of openings by position, whatever moves led to the position.

import type { Opening } from "./shared/types.js";
import { ecos, moves, names } from "./openings-table.js";

export type { Opening } from "./shared/types.js";

/** A position of a line. */
interface Position {
  /** Letters of the squares in the order of FEN, from a8 to h1; a space for an empty square. */
  squares: Uint8Array;
  rights: string;
  /** Square of a legal en-passant capture, or -1; a1 is 0, h8 is 63. */
  enPassant: number;
}

/** Expands the board of a FEN to a letter for each square. */
const expand = (board: string): string =>
  board
    .replaceAll("/", "")
    .replace(/\d/g, (empty) => " ".repeat(Number(empty)));

/** Castling rights that are lost when a move starts or ends on a square. */
const RIGHTS: Record<number, string> = {
  0: "Q",
  4: "KQ",
  7: "K",
  56: "q",
  60: "kq",
  63: "k",
};
const [SPACE, KING, ROOK, PAWN] = [32, 75, 82, 80];
/** Difference between the codes of a small and a capital letter. */
const BLACK = 32;

let table: Map<string, Opening> | undefined;
let maxPlies = 0;

/**
 * Returns the name of a position, for `openingOf` of `explore`. The FEN may have four or six fields.
 *
 * The first call decodes the table, which takes some milliseconds.
 */
export function openingOf(fen: string): Opening | undefined {
  const [board = "", turn, castling, enPassant] = String(fen)
    .trim()
    .split(/\s+/);
  const position = `${expand(board)} ${turn} ${castling}`;
  // A FEN may name an en-passant square without a legal capture.
  return (
    openings().get(`${position} ${enPassant}`) ??
    openings().get(`${position} -`)
  );
}

/** Returns the plies to the farthest position that has a name. */
export function openingPlies(): number {
  openings();
  return maxPlies;
}

function openings(): Map<string, Opening> {
  if (table) return table;
  table = new Map();
  const endings = names.split("\n");
  let name = "";
  // The positions of a line. The next line shares its first positions and replaces the rest.
  const start = Uint8Array.from(
    expand("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"),
    (letter) => letter.charCodeAt(0),
  );
  const positions: Position[] = [
    { squares: start, rights: "KQkq", enPassant: -1 },
  ];
  for (const [n, line] of moves.split("\n").entries()) {
    let ply = number(line, 0);
    for (let at = 1; at < line.length; at += 2) {
      play(
        positions[ply] as Position,
        number(line, at),
        number(line, at + 1),
        (positions[++ply] ??= {
          squares: new Uint8Array(64),
          rights: "",
          enPassant: -1,
        }),
      );
    }
    const ending = endings[n] ?? "";
    name = name.slice(0, number(ending, 0)) + ending.slice(1);
    table.set(key(positions[ply] as Position, ply % 2 === 0), {
      eco: ecos.slice(3 * n, 3 * n + 3),
      name,
    });
    maxPlies = Math.max(maxPlies, ply);
  }
  return table;
}

const number = (text: string, at: number): number => text.charCodeAt(at) - 35;

/** Returns the key of a position in the table. */
function key(
  { squares, rights, enPassant }: Position,
  isWhite: boolean,
): string {
  const square =
    enPassant < 0
      ? "-"
      : "abcdefgh".charAt(enPassant & 7) + ((enPassant >> 3) + 1);
  return `${String.fromCharCode(...squares)} ${isWhite ? "w" : "b"} ${rights || "-"} ${square}`;
}

/** Sets `after` to the position after a legal move that is no promotion. */
function play(
  before: Position,
  from: number,
  to: number,
  after: Position,
): void {
  const { squares } = after;
  squares.set(before.squares);
  after.rights = before.rights;
  after.enPassant = -1;
  const piece = squares[from ^ 56] ?? SPACE;
  const taken = squares[to ^ 56] ?? SPACE;
  const colour = piece & BLACK;
  if (after.rights) after.rights = without(without(after.rights, from), to);
  squares[from ^ 56] = SPACE;
  squares[to ^ 56] = piece;
  if (piece === KING + colour && taken === ROOK + colour) {
    squares[to ^ 56] = SPACE;
    squares[(to > from ? from + 2 : from - 2) ^ 56] = piece;
    squares[(to > from ? from + 1 : from - 1) ^ 56] = taken;
  } else if (piece === PAWN + colour) {
    if (to === before.enPassant) squares[to ^ 8 ^ 56] = SPACE;
    if (Math.abs(to - from) === 16) {
      const other = PAWN + (colour ^ BLACK);
      const isLeft = (to & 7) > 0 && squares[(to - 1) ^ 56] === other;
      const isRight = (to & 7) < 7 && squares[(to + 1) ^ 56] === other;
      if (isLeft || isRight) after.enPassant = (from + to) / 2;
    }
  }
}

/** Returns the castling rights after a move that starts or ends on a square. */
function without(rights: string, square: number): string {
  for (const lost of RIGHTS[square] ?? "") rights = rights.replace(lost, "");
  return rights;
}
