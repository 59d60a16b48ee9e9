// Names of openings by position, whatever moves led to the position.

import type { Opening } from "./shared/types.js";
import { ecos, moves, names } from "./openings-table.js";

export type { Opening } from "./shared/types.js";

interface Position {
  /** Letters of the squares in the order of FEN, from a8 to h1; a space for an empty square. */
  squares: Uint8Array;
  /** The square of an en-passant capture, or `-`. */
  enPassant: string;
}

/** Expands the board of a FEN to a letter for each square. */
const expand = (board: string): string =>
  board
    .replaceAll("/", "")
    .replace(/\d/g, (empty) => " ".repeat(Number(empty)));

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
  const [board = "", turn, , square] = String(fen).trim().split(/\s+/);
  const position = expand(board) + turn;
  // A FEN may name an en-passant square without a legal capture.
  return openings().get(position + square) ?? openings().get(`${position}-`);
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
  const start = expand("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
  const positions: Position[] = [
    {
      squares: Uint8Array.from(start, (letter) => letter.charCodeAt(0)),
      enPassant: "-",
    },
  ];
  for (const [n, line] of moves.split("\n").entries()) {
    let ply = number(line, 0);
    for (let at = 1; at < line.length; at += 2)
      positions[ply + 1] = play(
        positions[ply++]!,
        number(line, at),
        number(line, at + 1),
      );
    const ending = endings[n] ?? "";
    name = name.slice(0, number(ending, 0)) + ending.slice(1);
    const { squares, enPassant } = positions[ply]!;
    const eco = ecos.slice(3 * n, 3 * n + 3);
    const board = String.fromCharCode(...squares);
    table.set(board + "wb"[ply % 2] + enPassant, { eco, name });
    maxPlies = Math.max(maxPlies, ply);
  }
  return table;
}

const number = (text: string, at: number): number => text.charCodeAt(at) - 35;

/** Returns the position after a legal move that is no promotion. Castling is king to rook. The square a1 is 0, h8 is 63. */
function play(before: Position, from: number, to: number): Position {
  const squares = before.squares.slice();
  let enPassant = "-";
  const [piece = SPACE, taken] = [squares[from ^ 56], squares[to ^ 56]];
  const colour = piece & BLACK;
  squares[from ^ 56] = SPACE;
  squares[to ^ 56] = piece;
  if (piece === KING + colour && taken === ROOK + colour) {
    squares[to ^ 56] = SPACE;
    squares[(to > from ? from + 2 : from - 2) ^ 56] = piece;
    squares[(to > from ? from + 1 : from - 1) ^ 56] = taken;
  }
  if (piece === PAWN + colour) {
    // A diagonal move to an empty square is a capture en passant.
    if ((from ^ to) & 7 && taken === SPACE)
      squares[((from & 56) + (to & 7)) ^ 56] = SPACE;
    const beside = [-1, 1].filter((file) => !(((to & 7) + file) & 8));
    const isTaken = beside.some(
      (file) => squares[(to + file) ^ 56] === PAWN + (colour ^ BLACK),
    );
    if (Math.abs(to - from) === 16 && isTaken)
      enPassant = "abcdefgh".charAt(to & 7) + (colour ? 6 : 3);
  }
  return { squares, enPassant };
}
