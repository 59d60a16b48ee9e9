// Names of openings, by position: however it was reached, a position has one name.

import { ecos, moves, names } from "./openings-table.js";
import type { Opening } from "./types.js";

export type { Opening } from "./types.js";

/** A position on the way. */
interface Place {
  /** The letters of its squares as FEN orders them, from a8 to h1; a space where nothing stands. */
  squares: Uint8Array;
  rights: string;
  /** The square behind a pawn that can be taken there, or -1; a1 is 0, h8 is 63. */
  enPassant: number;
}

/** The squares of a FEN's board, one letter each. */
const spread = (board: string): string => board.replaceAll("/", "").replace(/\d/g, (empty) => " ".repeat(Number(empty)));

/** The rights that are lost when something moves from or to a square. */
const RIGHTS: Record<number, string> = { 0: "Q", 4: "KQ", 7: "K", 56: "q", 60: "kq", 63: "k" };
const [SPACE, KING, ROOK, PAWN] = [32, 75, 82, 80];
/** What a small letter has over a large one. */
const BLACK = 32;

let table: Map<string, Opening> | undefined;
let most = 0;

/**
 * The name of a position, if it has one: `openingOf` of `explore`. FEN may have four or six fields.
 *
 * The first call unfolds the table, which takes some milliseconds.
 */
export function openingOf(fen: string): Opening | undefined {
  const [board = "", turn, castling, enPassant] = String(fen).trim().split(/\s+/);
  const place = `${spread(board)} ${turn} ${castling}`;
  // Who writes the square behind a pawn that nobody can take en passant means the same position.
  return named().get(`${place} ${enPassant}`) ?? named().get(`${place} -`);
}

/** The half-moves to the farthest position that has a name. */
export function openingPlies(): number {
  named();
  return most;
}

function named(): Map<string, Opening> {
  if (table) return table;
  table = new Map();
  const endings = names.split("\n");
  let name = "";
  // The positions of a line. The next line goes on from one of them, and is written over the others.
  const start = Uint8Array.from(spread("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"), (letter) => letter.charCodeAt(0));
  const places: Place[] = [{ squares: start, rights: "KQkq", enPassant: -1 }];
  for (const [n, line] of moves.split("\n").entries()) {
    let ply = number(line, 0);
    for (let at = 1; at < line.length; at += 2) {
      play(places[ply] as Place, number(line, at), number(line, at + 1), (places[++ply] ??= { squares: new Uint8Array(64), rights: "", enPassant: -1 }));
    }
    const ending = endings[n] ?? "";
    name = name.slice(0, number(ending, 0)) + ending.slice(1);
    table.set(key(places[ply] as Place, ply % 2 === 0), { eco: ecos.slice(3 * n, 3 * n + 3), name });
    most = Math.max(most, ply);
  }
  return table;
}

const number = (text: string, at: number): number => text.charCodeAt(at) - 35;

/** What a position is found by. */
function key({ squares, rights, enPassant }: Place, isWhite: boolean): string {
  const square = enPassant < 0 ? "-" : "abcdefgh".charAt(enPassant & 7) + ((enPassant >> 3) + 1);
  return `${String.fromCharCode(...squares)} ${isWhite ? "w" : "b"} ${rights || "-"} ${square}`;
}

/** Makes one position that after a move in another; the move is legal and no promotion. */
function play(before: Place, from: number, to: number, after: Place): void {
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

/** The rights that are left when something moved from or to a square. */
function without(rights: string, square: number): string {
  for (const lost of RIGHTS[square] ?? "") rights = rights.replace(lost, "");
  return rights;
}
