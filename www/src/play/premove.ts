/** Moves that the user makes while the engine thinks. The page plays the move after the engine's move if it is legal then. */
import { attacks } from "chessops/attacks";
import type { Position } from "chessops/chess";
import { makeSan } from "chessops/san";
import { SquareSet } from "chessops/squareSet";
import { isNormal, type NormalMove } from "chessops/types";
import { makeSquare, opposite, parseUci } from "chessops/util";
import { passed } from "../game/legal-moves";
import { parseMove } from "../pgn/typed-move";

/**
 * Returns the premove for a typed text. The text is a move that would be legal if the other side passed. It can also be two squares such as `d4e5`,
 * for example of a recapture.
 */
export function parsePremove(
  position: Position,
  text: string,
): NormalMove | undefined {
  const move = parseMove(passed(position), text);
  if (move) return move;
  const typed = parseUci(text.trim().toLowerCase());
  const piece =
    typed && isNormal(typed) ? position.board.get(typed.from) : undefined;
  if (!typed || !isNormal(typed) || piece?.color !== opposite(position.turn))
    return undefined;
  return attacks(piece, typed.from, SquareSet.empty()).has(typed.to)
    ? typed
    : undefined;
}

/** Formats a premove: "Nf3" if it would be legal now, otherwise "d4–e5". Checks depend on the move of the other side. */
export function premoveText(position: Position, move: NormalMove): string {
  const now = passed(position);
  return now.isLegal(move)
    ? makeSan(now, move).replace(/[+#]$/, "")
    : `${makeSquare(move.from)}–${makeSquare(move.to)}`;
}
