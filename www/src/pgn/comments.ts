/** Converts PGN comments and glyphs to notes. */
import {
  type Evaluation,
  isMate,
  makeComment,
  parseComment,
} from "chessops/pgn";
import type { Given, Notes } from "../game/game";

/** Adds a comment that follows the move. */
export function addComment(notes: Notes, comment: string): void {
  const { text, shapes, clock, emt, evaluation } = parseComment(comment);
  notes.comment = joined(notes.comment, text);
  if (!notes.comment) delete notes.comment;
  if (shapes.length > 0) notes.shapes = [...(notes.shapes ?? []), ...shapes];
  if (clock !== undefined) notes.clock = clock;
  if (emt !== undefined) notes.elapsed = emt;
  if (evaluation) notes.given = given(evaluation);
}

/** Adds a comment before the first move of a variation. */
export function addBefore(notes: Notes, comment: string): void {
  const { text } = parseComment(comment);
  notes.before = joined(notes.before, text);
  if (!notes.before) delete notes.before;
}

/** Adds a glyph. Ignores duplicates and unknown glyphs. */
export function addNag(notes: Notes, nag: number): void {
  if (nag >= 1 && nag <= 255 && !notes.nags.includes(nag)) notes.nags.push(nag);
}

/** Returns the comment after the move in PGN's notation, without braces; `undefined` without a comment. */
export function commentText(notes: Notes): string | undefined {
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

function given(evaluation: Evaluation): Given {
  const depth =
    evaluation.depth === undefined ? {} : { depth: evaluation.depth };
  return isMate(evaluation)
    ? { mate: evaluation.mate, ...depth }
    : { cp: Math.round(evaluation.pawns * 100), ...depth };
}

function pawns({ cp, mate, depth }: Given): Evaluation | undefined {
  const withDepth = depth === undefined ? {} : { depth };
  if (mate !== undefined) return { mate, ...withDepth };
  return cp === undefined ? undefined : { pawns: cp / 100, ...withDepth };
}

const joined = (before: string | undefined, text: string): string =>
  `${before ?? ""} ${text}`.replace(/\s+/g, " ").trim();
