// Names of openings, by position: however it was reached, a position has one name.

import { ecos, moves, names } from "./openings-table.js";
import type { Opening } from "./types.js";

export type { Opening } from "./types.js";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
/** The rights that are lost when something moves from or to a square: a1 is 0, h8 is 63. */
const RIGHTS: Record<number, string> = { 0: "Q", 4: "KQ", 7: "K", 56: "q", 60: "kq", 63: "k" };

let table: Map<string, Opening> | undefined;
let most = 0;

/**
 * The name of a position, if it has one: `openingOf` of `explore`. FEN may have four or six fields.
 *
 * The first call unfolds the table, which takes some milliseconds.
 */
export function openingOf(fen: string): Opening | undefined {
  const [board, turn, castling, enPassant] = String(fen).trim().split(/\s+/);
  const place = `${board} ${turn} ${castling}`;
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
  const names = unfolded(1);
  const lines = unfolded(2);
  for (const [n, line] of lines.entries()) {
    table.set(position(line), { eco: ecos.slice(3 * n, 3 * n + 3), name: names[n] ?? "" });
    most = Math.max(most, line.length / 2);
  }
  return table;
}

const number = (text: string, at: number): number => text.charCodeAt(at) - 35;

/** Lines of which each begins as the one before, by so many parts of `width` letters. */
function unfolded(width: 1 | 2): string[] {
  let before = "";
  return (width === 1 ? names : moves).split("\n").map((line) => (before = before.slice(0, width * number(line, 0)) + line.slice(1)));
}

/** The position after moves, as the first four fields of FEN. Moves are legal and no promotions. */
function position(moves: string): string {
  const squares = [...START.replaceAll("/", "").replace(/\d/g, (empty) => " ".repeat(Number(empty)))];
  const board = Array.from({ length: 64 }, (_, square) => squares[square ^ 56] ?? " ");
  let rights = "KQkq";
  let enPassant = -1;
  for (let at = 0; at < moves.length; at += 2) {
    const [from, to] = [number(moves, at), number(moves, at + 1)];
    const [piece = " ", taken = " "] = [board[from], board[to]];
    const passed = enPassant;
    enPassant = -1;
    for (const square of [from, to]) for (const right of RIGHTS[square] ?? "") rights = rights.replace(right, "");
    board[from] = " ";
    if (/k/i.test(piece) && taken === (piece === "K" ? "R" : "r")) {
      const [king, rook] = to > from ? [from + 2, from + 1] : [from - 2, from - 1];
      board[to] = " ";
      [board[king], board[rook]] = [piece, taken];
      continue;
    }
    board[to] = piece;
    if (!/p/i.test(piece)) continue;
    if (to === passed) board[to ^ 8] = " ";
    if (Math.abs(to - from) === 16) {
      const other = piece === "P" ? "p" : "P";
      const beside = [to - 1, to + 1].filter((square) => square >> 3 === to >> 3);
      if (beside.some((square) => board[square] === other)) enPassant = (from + to) / 2;
    }
  }
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].map((rank) => board.slice(8 * rank, 8 * rank + 8).join("").replace(/ +/g, ({ length }) => String(length)));
  const square = enPassant < 0 ? "-" : "abcdefgh".charAt(enPassant & 7) + ((enPassant >> 3) + 1);
  return `${ranks.join("/")} ${moves.length % 4 === 0 ? "w" : "b"} ${rights || "-"} ${square}`;
}
