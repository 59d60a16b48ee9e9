/** Annotations of a PGN: comments, glyphs (NAGs), clocks, evaluations and drawings. */
import type { CommentShape } from "chessops/pgn";

/** An evaluation in the PGN, from White's point of view. */
export interface Given {
  cp?: number;
  /** Moves to mate; negative if Black mates. */
  mate?: number;
  depth?: number;
}

/** Annotations of one move, or of the game at the root. */
export interface Notes {
  /** Comment before the move. */
  before?: string;
  /** Comment after the move, without `[%…]` commands. */
  comment?: string;
  /** Numeric annotation glyphs, 1 to 255; 1 to 6 are `!`, `?`, `!!`, `??`, `!?`, `?!`. */
  nags: number[];
  /** Seconds left on the mover's clock, `[%clk]`. */
  clock?: number;
  /** Seconds spent on the move, `[%emt]`. */
  elapsed?: number;
  /** `[%eval]` */
  given?: Given;
  /** Squares and arrows, `[%csl]` and `[%cal]`. */
  shapes?: CommentShape[];
}

/** Whether there are no annotations. */
export const isEmpty = ({
  before,
  comment,
  nags,
  clock,
  elapsed,
  given,
  shapes,
}: Notes): boolean =>
  !before &&
  !comment &&
  nags.length === 0 &&
  clock === undefined &&
  elapsed === undefined &&
  !given &&
  !shapes;
