/** Computes the keys of positions (FORMAT.md), divided into parts that the page shows. */
import type { Color, Role } from "chessops";
import { makeFen, parseFen } from "chessops/fen";
import { setupPosition } from "chessops/variant";

/** Order of files in a key, from the centre outwards. */
export const FILES = "decfbgah";
/** Order of the pieces' roles in a key. */
const MATERIAL: readonly Role[] = ["queen", "rook", "bishop", "knight"];
const COLORS: readonly Color[] = ["white", "black"];

export type KeyPart =
  "pawns" | "material" | "squares" | "turn" | "castling" | "en passant";

export interface Key {
  bytes: number[];
  parts: { name: KeyPart; bytes: number[] }[];
}

/** Returns the canonical FEN of a position: four fields, without castling rights and en-passant squares that have no effect. Throws if the position is invalid. */
export function canonical(fen: string): string {
  const setup = parseFen(fen.trim()).unwrap();
  return makeFen(setupPosition("chess", setup).unwrap().toSetup(), {
    epd: true,
  });
}

/** Returns the key of a position in canonical FEN. */
export function keyOf(fen: string): Key {
  const { board, turn, castlingRights, epSquare } = parseFen(fen).unwrap();
  const pawns: number[] = [];
  for (const file of FILES) {
    let code = 0;
    for (let rank = 1; rank < 7; rank++) {
      const piece = board.get(8 * rank + file.charCodeAt(0) - 97);
      code =
        3 * code +
        (piece?.role === "pawn" ? (piece.color === "white" ? 1 : 2) : 0);
    }
    pawns.push(code);
  }
  const kinds = MATERIAL.flatMap((role) =>
    COLORS.map((color) => [...board.pieces(color, role)]),
  );
  const kings = COLORS.map((color) => board.kingOf(color) ?? 0);
  const files = (color: Color) =>
    [...castlingRights]
      .filter((square) => board.get(square)?.color === color)
      .reduce((bits, square) => bits | (1 << (square % 8)), 0);
  const parts: Key["parts"] = [
    { name: "pawns", bytes: packed(pawns, 10) },
    {
      name: "material",
      bytes: packed(
        kinds.map((squares) => squares.length),
        6,
      ),
    },
    { name: "squares", bytes: [...kings, ...kinds.flat()] },
    { name: "turn", bytes: [turn === "white" ? 0 : 1] },
    { name: "castling", bytes: [files("white"), files("black")] },
    {
      name: "en passant",
      bytes: [epSquare === undefined ? 0 : 1 + (epSquare % 8)],
    },
  ];
  return { bytes: parts.flatMap(({ bytes }) => bytes), parts };
}

/** Packs numbers of `width` bits into bytes, most significant bit first. */
function packed(numbers: readonly number[], width: number): number[] {
  const bits = numbers
    .map((number) => number.toString(2).padStart(width, "0"))
    .join("");
  return (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
}

export const hex = (bytes: Iterable<number>): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Compares two byte strings; the result is negative if `a` is smaller. A proper prefix is smaller. */
export function compare(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = Number(a[at]) - Number(b[at]);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Returns the index of the last separator that is not greater than the key. */
export function covering(
  separators: readonly ArrayLike<number>[],
  key: ArrayLike<number>,
): number {
  let [low, high] = [0, separators.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(separators[middle] ?? [], key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
