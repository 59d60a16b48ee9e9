/** The rules of Precedent: only moves that were played before, or only moves that are not in the book. */
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import type { Role } from "chessops/types";
import { makeSquare, makeUci } from "chessops/util";
import type { GameReference, Played, PlayedMove, Results } from "shelfish/book";
import type { Allowed } from "../board/board";
import { absentText, type Limits } from "../book/limits";
import { games } from "../book/results";
import { plural } from "../text/units";
import { ending, type Node, type Step, squares, steps } from "../game/game";
import { legalMoves } from "../game/legal-moves";

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

/** Returns the moves that the board allows, and the pieces that a pawn may promote to. */
export function allowed(position: Position, from: readonly Choice[]): Allowed {
  const dests = new Map<Key, Key[]>();
  for (const { step } of from) {
    const [orig, dest] = squares(position, step.move) as [Key, Key];
    // The king can also castle by a move to its rook.
    dests.set(orig, [
      ...(dests.get(orig) ?? []),
      dest,
      makeSquare(step.move.to),
    ]);
  }
  const offers = (orig: number, dest: number) =>
    new Map(
      from
        .filter(
          ({ step: { move } }) =>
            move.from === orig && move.to === dest && move.promotion,
        )
        .map(({ step, games }) => [step.move.promotion as Role, count(games)]),
    );
  return { dests, offers };
}

/** Returns the number of games for each target square, of all pieces or of the selected piece. */
export function marks(
  position: Position,
  from: readonly Choice[],
  selected?: Key,
): Map<Key, string> {
  const sums = new Map<Key, number>();
  for (const { step, games } of from) {
    const [orig, dest] = squares(position, step.move) as [Key, Key];
    if (games > 0 && (!selected || orig === selected))
      sums.set(dest, (sums.get(dest) ?? 0) + games);
  }
  return new Map([...sums].map(([dest, sum]) => [dest, count(sum)]));
}

/** Formats a count with at most three digits. */
export function count(games: number): string {
  for (const [unit, letter] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const)
    if (games >= unit * 0.9995)
      return `${games < unit * 9.95 ? (games / unit).toFixed(1) : Math.round(games / unit)}${letter}`;
  return String(games);
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
  const move = before?.moves.find(
    ({ uci }) =>
      steps(node.parent?.position ?? node.position, [uci])[0]?.san === node.san,
  );
  const same = games(played) === 0 ? move : played.ended;
  return {
    ...endText(node, played, move, mode, limits),
    games: (mode === "precedent" && same?.games) || [],
  };
}

function endText(
  node: Node,
  played: Played,
  move: PlayedMove | undefined,
  mode: Mode,
  limits: Limits,
): Pick<GameEnd, "title" | "text"> {
  const over = ending(node.position);
  const [all, ended] = [games(played), games(played.ended)];
  if (mode === "unprecedented") {
    const text =
      all === 0
        ? absentText(limits)
        : `${plural(all, "game")} of the book reached this position.`;
    return { title: over ? `${over.title}.` : "The end.", text };
  }
  if (all === 0) {
    const least = Number(limits.min_games ?? 1);
    const rest =
      least > 1
        ? ` The book has only positions that at least ${least} games reached.`
        : "";
    if (!move)
      return {
        title: over ? `${over.title}.` : "No precedent in this book.",
        text: absentText(limits),
      };
    const count = games(move);
    return count === 1
      ? {
          title: "You replayed this game.",
          text: `Only one game of the book played ${node.san} here.${rest}`,
        }
      : {
          title: over ? `${over.title}.` : "The book ends here.",
          text: `${plural(count, "game")} of the book played ${node.san}.${rest}`,
        };
  }
  const exactly = `${plural(ended, "game")} ended exactly here.`;
  const most = Number(limits.max_plies ?? Number.POSITIVE_INFINITY);
  if (!over && node.ply >= most) {
    // Later positions are only in games that the book has complete, or that reached them in fewer moves.
    const text =
      node.ply > most && limits.whole_games
        ? "the book goes no further"
        : `the book has the first ${limits.max_plies} half-moves of each`;
    return {
      title: all === 1 ? "You replayed this game." : "The book ends here.",
      text: `${plural(all, "game")} came this far; ${text}.`,
    };
  }
  if (all === 1)
    return {
      title: "You replayed this game.",
      text: over
        ? `It ended here: ${over.title.toLowerCase()}.`
        : "It ended exactly here.",
    };
  return {
    title: over ? `${over.title}.` : exactly,
    text: over ? exactly : results(played.ended),
  };
}

const results = ({ white, draws, black }: Results): string =>
  `White won ${white}, Black won ${black}, ${draws} ${draws === 1 ? "was" : "were"} drawn.`;
