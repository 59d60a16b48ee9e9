/** What stands for a position in the table of opening names. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { hash } from "./hash";

/** Letters of a key. */
export const KEY_LENGTH = 8;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** 48 bits of a hash of the position without its counters: among some 4,000 names, one position in 10^11 gets a wrong one. */
export const keyOf = (position: Position): string => keyOfFen(makeFen(position.toSetup(), { epd: true }));

/** The same by the first four fields of the position's FEN. */
export function keyOfFen(fen: string): string {
  let value = hash(fen);
  let key = "";
  for (let i = 0; i < KEY_LENGTH; i++) {
    key += ALPHABET.charAt(value % 64);
    value = Math.floor(value / 64);
  }
  return key;
}
