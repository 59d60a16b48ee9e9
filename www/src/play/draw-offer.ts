/** The engine's answer to a draw offer. */
import type { Color } from "chessops/types";
import type { ScoreLike } from "shelfish/score";
import type { Position } from "chessops/chess";
import { centipawnsFor } from "../score/score";

/** Number of the first move before which the engine declines. */
const FIRST_MOVE = 20;
/** Number of positions after the engine's own moves that the engine judges: each must be equal or worse for it. */
export const DRAW_POSITIONS = 3;
/** Nodes of the engine for each judged position. */
export const DRAW_NODES = 100_000;
/** Highest score for the engine, in centipawns, at which a position counts as equal. */
const EQUAL = 20;
/** Number of moves after an offer without another offer. */
export const DRAW_INTERVAL = 10;

export interface DrawAnswer {
  isAccepted: boolean;
  /** Reason of a refusal. */
  reason: string;
}

/** Returns the refusal of an early offer, which needs no search. The user is to move, so that the engine made half of the moves or one more. */
export function earlyAnswer({
  position,
  ply,
}: {
  position: Pick<Position, "fullmoves">;
  ply: number;
}): DrawAnswer | undefined {
  if (position.fullmoves < FIRST_MOVE)
    return {
      isAccepted: false,
      reason: `it agrees to no draw before move ${FIRST_MOVE}`,
    };
  return Math.ceil(ply / 2) < DRAW_POSITIONS
    ? {
        isAccepted: false,
        reason: `it wants to play at least ${DRAW_POSITIONS} moves`,
      }
    : undefined;
}

/** Answers an offer. `scores` are the scores of the last positions after the engine's moves, from White's point of view. */
export function drawAnswer(
  scores: readonly ScoreLike[],
  engine: Color,
): DrawAnswer {
  const better = scores.map((score) => centipawnsFor(engine, score) > EQUAL);
  if (better.at(-1))
    return { isAccepted: false, reason: "it prefers its position" };
  if (better.includes(true))
    return {
      isAccepted: false,
      reason: "its position was better a moment ago",
    };
  return { isAccepted: true, reason: "" };
}
