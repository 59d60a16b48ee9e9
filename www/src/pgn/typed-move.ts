/** Typed moves, read. Loaded when somebody types one. */
import type { Position } from "chessops/chess";
import type { NormalMove } from "chessops/types";
import { sameMove } from "../game/game";
import { ENGLISH, FOREIGN, moveOf, piecesOf } from "./letters";

/**
 * A legal move from what a person types: SAN, also without its marks or in lower case, UCI, figurines, or a letter of another
 * language that English does not have, if only one legal move can be meant.
 */
export function parseMove(position: Position, text: string): NormalMove | undefined {
  const typed = text.trim().replace(/[!?]+$/, "");
  for (const word of [typed, capitalised(typed), capitalised(typed.toLowerCase()), typed.toLowerCase()]) {
    const move = moveOf(position, word, ENGLISH);
    if (move) return move;
  }
  const letters = piecesOf(typed);
  if (letters.length === 0 || letters.some((letter) => ENGLISH.pieces.includes(letter))) return undefined;
  const meant = FOREIGN.flatMap((language) => moveOf(position, typed, language) ?? []);
  // P is a knight in Dutch, and a pawn to those who write it.
  if (typed.startsWith("P")) meant.push(...[moveOf(position, typed.slice(1), ENGLISH) ?? []].flat());
  const [move, ...others] = meant;
  return move && others.every((other) => sameMove(move, other)) ? move : undefined;
}

const capitalised = (san: string): string => (/^o-o/.test(san) ? san.toUpperCase() : san.charAt(0).toUpperCase() + san.slice(1));
