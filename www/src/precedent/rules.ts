/** The rules of Precedent: only moves that were played before. */
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import { makeSquare } from "chessops/util";
import type { GameReference, Played } from "shelfish";
import { absentText, games, type Limits } from "../book/results";
import { ending, type Node, squares, type Step, steps } from "../game/game";
import { plural } from "../text/words";

export interface Choice {
  step: Step;
  games: number;
}

/** Returns the moves that can be played from a position: the most played move first. */
export const choices = (position: Position, played: Played): Choice[] =>
  played.moves.flatMap((move) => {
    const [step] = steps(position, [move.uci]);
    return step ? [{ step, games: games(move) }] : [];
  });

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
interface GameEnd {
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
  limits: Limits,
): GameEnd {
  const over = ending(node.position);
  const all = games(played);
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
