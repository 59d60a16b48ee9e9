/** The novelty of a game: its first move that is not in the book. The book may lack moves that were played. */
import type { Played } from "shelfish/book";
import { games } from "../book/results";
import { moveNumber, type Node, sameMove, steps } from "../game/game";

/** Maximum number of plies that are looked up. */
export const MAX_PLIES = 100;

/** The end of a game's moves in the book. */
export interface LastInBook {
  /** The last position of the game with moves in the book. */
  last: Node;
  /** Number of games of the book that reached the position. */
  games: number;
  /** The move from there that is not in the book; `undefined` if the book or the game ends. */
  novelty: Node | undefined;
}

/**
 * Returns the end of a line's moves in the book. A move is a novelty only if the book has other moves of the position before it: a book
 * that ends after some moves proves nothing. Returns `undefined` if the first position has no moves in the book.
 */
export function lastInBook(
  line: readonly Node[],
  answers: ReadonlyMap<string, Played>,
): LastInBook | undefined {
  let found: LastInBook | undefined;
  for (const [ply, node] of line.entries()) {
    const played = answers.get(node.fen);
    if (!played || played.moves.length === 0) break;
    const next = line[ply + 1];
    const isKnown =
      next?.move &&
      played.moves.some(({ uci }) =>
        steps(node.position, [uci]).some(({ move }) =>
          sameMove(move, next.move!),
        ),
      );
    found = {
      last: node,
      games: games(played),
      novelty: isKnown ? undefined : next,
    };
    if (!isKnown) break;
  }
  return found;
}

/** Describes the end of the moves in the book. `name` is the opening's name. */
export function noveltyText(
  found: LastInBook | undefined,
  name: string | undefined,
): string {
  if (!found) return "The first position of the game is not in this book.";
  const { last, novelty } = found;
  const reached = `${found.games.toLocaleString("en")} ${found.games === 1 ? "game" : "games"} of the book reached the position before it${name ? ` (${name})` : ""}.`;
  if (novelty?.parent)
    return `${moveNumber(novelty.parent.position)} ${novelty.san} is the first move that is not in this book. ${reached}`;
  const end = last.children[0];
  if (!end || end.children.length === 0)
    return "All moves of the game are in this book.";
  return `The moves of the game are in this book up to ${moveNumber(last.position)} ${end.san}, where the book ends.`;
}
