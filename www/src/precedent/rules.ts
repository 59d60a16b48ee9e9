/** The rules of Precedent: only moves that were played before, or only moves that are not in the book. */
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import { makeSquare, makeUci } from "chessops/util";
import type { GameReference, Played } from "shelfish/book";
import { absentText, games, type Limits } from "../book/results";
import {
  ending,
  legalMoves,
  type Node,
  squares,
  type Step,
  steps,
} from "../game/game";
import { plural } from "../text/units";

/** Number of rare moves that are allowed if every move was played before. */
const RAREST = 5;

/** Whether moves must be in the book or must not be in the book. */
export type Mode = "precedent" | "unprecedented";

export interface Choice {
  step: Step;
  games: number;
}

/**
 * Returns the moves that can be played from a position: the most played move first. Moves without a precedent are sorted by name. If every move has
 * a precedent, the rarest moves are returned.
 */
export function choices(
  position: Position,
  played: Played,
  mode: Mode,
): Choice[] {
  const known = played.moves.flatMap((move) => {
    const [step] = steps(position, [move.uci]);
    return step ? [{ step, games: games(move) }] : [];
  });
  if (mode === "precedent") return known;
  const taken = new Set(known.map(({ step }) => makeUci(step.move)));
  const fresh = legal(position).filter(
    (step) => !taken.has(makeUci(step.move)),
  );
  if (fresh.length === 0) return known.reverse().slice(0, RAREST);
  return fresh
    .map((step) => ({ step, games: 0 }))
    .sort((a, b) => (a.step.san < b.step.san ? -1 : 1));
}

/** Says how many moves may be played. A book with limits does not know which of the other moves were played. */
export function turnText(
  position: Position,
  played: Played,
  available: readonly Choice[],
  mode: Mode,
  limits: Limits,
): string {
  const turn = `${position.turn === "white" ? "White" : "Black"} to move`;
  if (mode === "precedent")
    return `${turn}: ${plural(available.length, "move")} with a precedent.`;
  if (games(played) === 0) return `${turn}. ${absentText(limits)}`;
  if (available.some(({ games }) => games > 0))
    return `${turn}: every move is in this book; these are the rarest.`;
  return `${turn}: ${available.length} of ${plural(legal(position).length, "move")} ${available.length === 1 ? "is" : "are"} not in this book.`;
}

/** Returns the legal moves of a position. */
export const legal = (position: Position): Step[] =>
  legalMoves(position).flatMap((move) => steps(position, [makeUci(move)]));

/** Returns the target squares that the board allows. The king can also castle by a move to its rook. */
export function targets(
  position: Position,
  from: readonly Choice[],
): Map<Key, Key[]> {
  const found = new Map<Key, Key[]>();
  for (const { step } of from) {
    const [orig, dest] = squares(position, step.move) as [Key, Key];
    found.set(orig, [
      ...(found.get(orig) ?? []),
      dest,
      makeSquare(step.move.to),
    ]);
  }
  return found;
}

/** The end of a game in words. */
export interface GameEnd {
  title: string;
  text: string;
  /** The games of the book that ended the same way. */
  games: GameReference[];
}

/** Describes the end of a game. `before` are the moves that were played from the previous position. */
export function gameEnd(
  node: Node,
  played: Played,
  before: Played | undefined,
  mode: Mode,
  limits: Limits,
): GameEnd {
  const over = ending(node.position);
  const all = games(played);
  if (mode === "unprecedented")
    return {
      title: over ? `${over.title}.` : "The end.",
      text:
        all === 0
          ? absentText(limits)
          : `${plural(all, "game")} of the book reached this position.`,
      games: [],
    };
  const move = before?.moves.find(
    ({ uci }) =>
      steps(node.parent?.position ?? node.position, [uci])[0]?.san === node.san,
  );
  const same = all > 0 ? played.ended : move;
  const count = all || (move ? games(move) : 0);
  const absent = all === 0 ? ` ${absentText(limits)}` : "";
  return {
    title:
      count === 1
        ? "You replayed this game."
        : over
          ? `${over.title}.`
          : "The book ends here.",
    text: `${plural(count, "game")} of the book came this far, and ${games(played.ended)} ended exactly here.${absent}`,
    games: same?.games ?? [],
  };
}
