/** What a PGN says beside a move: comments, glyphs (NAGs), clocks, an evaluation, drawings. */
import { type CommentShape, type Evaluation, isMate, makeComment, parseComment } from "chessops/pgn";

/** An evaluation that came with the game, from White's point of view. */
export interface Given {
  /** Centipawns. */
  cp?: number;
  /** Moves to mate; negative if Black mates. */
  mate?: number;
  depth?: number;
}

/** What is said of one move; at the root, of the game as a whole. */
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

/** Adds a PGN comment that stands after the move. */
export function addComment(notes: Notes, comment: string): void {
  const { text, shapes, clock, emt, evaluation } = parseComment(comment);
  notes.comment = joined(notes.comment, text);
  if (!notes.comment) delete notes.comment;
  if (shapes.length > 0) notes.shapes = [...(notes.shapes ?? []), ...shapes];
  if (clock !== undefined) notes.clock = clock;
  if (emt !== undefined) notes.elapsed = emt;
  if (evaluation) notes.given = given(evaluation);
}

/** Adds a PGN comment that stands before the first move of a variation. */
export function addBefore(notes: Notes, comment: string): void {
  const { text } = parseComment(comment);
  notes.before = joined(notes.before, text);
  if (!notes.before) delete notes.before;
}

/** Adds a glyph, unless it is there already or no glyph of the standard. */
export function addNag(notes: Notes, nag: number): void {
  if (nag >= 1 && nag <= 255 && !notes.nags.includes(nag)) notes.nags.push(nag);
}

/** The comment after the move as PGN writes it, without braces; undefined if there is nothing to say. */
export function written(notes: Notes): string | undefined {
  const { comment, shapes, given, elapsed, clock } = notes;
  const evaluation = given && pawns(given);
  const text = makeComment({
    ...(comment ? { text: comment } : {}),
    ...(shapes ? { shapes } : {}),
    ...(evaluation ? { evaluation } : {}),
    ...(elapsed === undefined ? {} : { emt: elapsed }),
    ...(clock === undefined ? {} : { clock }),
  });
  return text || undefined;
}

/** Whether anything is said. */
export const isSilent = ({ before, comment, nags, clock, elapsed, given, shapes }: Notes): boolean =>
  !before && !comment && nags.length === 0 && clock === undefined && elapsed === undefined && !given && !shapes;

function given(evaluation: Evaluation): Given {
  const depth = evaluation.depth === undefined ? {} : { depth: evaluation.depth };
  return isMate(evaluation) ? { mate: evaluation.mate, ...depth } : { cp: Math.round(evaluation.pawns * 100), ...depth };
}

function pawns({ cp, mate, depth }: Given): Evaluation | undefined {
  const told = depth === undefined ? {} : { depth };
  if (mate !== undefined) return { mate, ...told };
  return cp === undefined ? undefined : { pawns: cp / 100, ...told };
}

const joined = (before: string | undefined, text: string): string => `${before ?? ""} ${text}`.replace(/\s+/g, " ").trim();
