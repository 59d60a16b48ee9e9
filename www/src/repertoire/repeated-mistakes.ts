/** Finds the moves that a player repeats although the database has a better move. */
import { isShallow, type KnownScore } from "../score/known-score";
import { INACCURACY } from "../score/score";
import {
  type Repertoire,
  type RepertoireMove,
  repeatedMoves,
} from "./repertoire";

/** Evaluations by the key of the position; `undefined` if the database does not have the position. */
export type Evaluations = ReadonlyMap<string, KnownScore | undefined>;

export interface RepeatedMistake {
  /** Key of the position before the move. */
  key: string;
  move: RepertoireMove;
  /** The better move, in UCI. */
  best: string;
  /** Scores before and after the move. */
  before: KnownScore;
  after: KnownScore;
  /** Lost winning chances, from 0 to 2. */
  loss: number;
  /** Lost winning chances in all games. */
  cost: number;
}

/**
 * Returns the repeated moves that lose at least the chances of an inaccuracy, the highest cost first. Both positions need an evaluation of the database
 * that is not shallow. The first move of the best line is never a mistake: two searches of different depth may differ.
 */
export function repeatedMistakes(
  repertoire: Repertoire,
  evaluations: Evaluations,
): RepeatedMistake[] {
  const sign = repertoire.side === "white" ? 1 : -1;
  const mistakes: RepeatedMistake[] = [];
  for (const [key, move] of repeatedMoves(repertoire)) {
    const [before, after] = [evaluations.get(key), evaluations.get(move.next)];
    const best = before?.line[0];
    if (
      !before ||
      !after ||
      !best ||
      best === move.uci ||
      isShallow(before) ||
      isShallow(after)
    )
      continue;
    const loss = sign * (before.chances - after.chances);
    if (loss >= INACCURACY)
      mistakes.push({
        key,
        move,
        best,
        before,
        after,
        loss,
        cost: loss * move.games.length,
      });
  }
  return mistakes.sort((a, b) => b.cost - a.cost);
}

/** Returns the keys of the positions before and after the repeated moves, the most played first, at most `maximum`. */
export function keysToLookUp(
  repertoires: readonly Repertoire[],
  maximum: number,
): string[] {
  const moves = repertoires.flatMap((repertoire) => [
    ...repeatedMoves(repertoire),
  ]);
  moves.sort(([, a], [, b]) => b.games.length - a.games.length);
  return [...new Set(moves.flatMap(([key, { next }]) => [key, next]))].slice(
    0,
    maximum,
  );
}
