/** Reads typed moves. Loaded when the first move is typed. */
import type { Position } from "chessops/chess";
import type { NormalMove } from "chessops/types";
import { sameMove } from "../game/game";
import { capitalised } from "../text/units";
import { ENGLISH, FOREIGN, moveOf, piecesOf } from "./letters";

/**
 * Returns the legal move for a typed text: SAN, also without its marks or in lower case, UCI, or figurines. Piece letters of other languages are
 * accepted if only one legal move is possible.
 */
export function parseMove(
  position: Position,
  text: string,
): NormalMove | undefined {
  const typed = text.trim().replace(/[!?]+$/, "");
  for (const word of [
    typed,
    corrected(typed),
    corrected(typed.toLowerCase()),
    typed.toLowerCase(),
  ]) {
    const move = moveOf(position, word, ENGLISH);
    if (move) return move;
  }
  const letters = piecesOf(typed);
  if (
    letters.length === 0 ||
    letters.some((letter) => ENGLISH.pieces.includes(letter))
  )
    return undefined;
  const meant = FOREIGN.flatMap(
    (language) => moveOf(position, typed, language) ?? [],
  );
  // P is a knight in Dutch, but some people also write it for a pawn.
  if (typed.startsWith("P"))
    meant.push(...[moveOf(position, typed.slice(1), ENGLISH) ?? []].flat());
  const [move, ...others] = meant;
  return move && others.every((other) => sameMove(move, other))
    ? move
    : undefined;
}

const corrected = (san: string): string =>
  /^o-o/.test(san) ? san.toUpperCase() : capitalised(san);
