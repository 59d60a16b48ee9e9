/** Finds the moves with which a player leaves the book. */
import type { Played } from "shelfish/book";
import {
  type Repertoire,
  type RepertoireMove,
  repeatedMoves,
} from "./repertoire";

export interface Departure {
  /** Key of the position before the move. */
  key: string;
  move: RepertoireMove;
  /** The moves of the book in SAN, the most played first. */
  book: readonly string[];
}

/** Answers of the book to the positions with these keys. A position whose lookup failed has no answer. */
export type AskBook = (
  keys: readonly string[],
) => Promise<ReadonlyMap<string, Played>>;

/**
 * Returns the first repeated move of each line that the book does not have, the most played first. The book is asked only for positions that games
 * reached by moves of the book.
 */
export async function departures(
  repertoire: Repertoire,
  ask: AskBook,
): Promise<Departure[]> {
  const byPly = new Map<number, Map<string, RepertoireMove[]>>();
  for (const [key, move] of repeatedMoves(repertoire)) {
    const ply = repertoire.positions.get(key)?.ply ?? 0;
    const keys = byPly.get(ply) ?? new Map<string, RepertoireMove[]>();
    byPly.set(ply, keys.set(key, [...(keys.get(key) ?? []), move]));
  }
  const found: Departure[] = [];
  /** Positions with the player to move, after moves of the book by the player. */
  const reached = new Set<string>();
  for (const [ply, keys] of [...byPly].sort(([a], [b]) => a - b)) {
    const asked = [...keys.keys()].filter((key) => ply < 2 || reached.has(key));
    if (asked.length === 0) continue;
    for (const [key, { moves }] of await ask(asked)) {
      // The opponent left the book.
      if (moves.length === 0) continue;
      const has = new Set(moves.map(({ uci }) => uci));
      for (const move of keys.get(key) ?? []) {
        if (has.has(move.uci))
          for (const { next } of repertoire.positions.get(move.next)?.moves ??
            [])
            reached.add(next);
        else found.push({ key, move, book: moves.map(({ san }) => san) });
      }
    }
  }
  return found.sort((a, b) => b.move.games.length - a.move.games.length);
}
