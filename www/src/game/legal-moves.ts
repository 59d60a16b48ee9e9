/** The legal moves of a position. */
import type { Position } from "chessops/chess";
import type { NormalMove, Role } from "chessops/types";
import { squareRank } from "chessops/util";

/** Whether a move of a piece between two squares is a promotion. */
export const isPromotion = (
  { board }: Position,
  from: number,
  to: number,
): boolean =>
  board.pawn.has(from) && (squareRank(to) === 0 || squareRank(to) === 7);

/** Returns every legal move, castling also as a move to the king's target square. */
export function legalMoves(position: Position): NormalMove[] {
  const moves: NormalMove[] = [];
  for (const [from, targets] of position.allDests())
    for (const to of targets) {
      const roles: (Role | undefined)[] = isPromotion(position, from, to)
        ? ["queen", "knight", "rook", "bishop"]
        : [undefined];
      moves.push(...roles.map((promotion) => ({ from, to, promotion })));
    }
  return moves;
}
