/** The rules of Precedent: only moves that were played before, or only moves that never were. Pure. */
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import type { Role } from "chessops/types";
import { makeSquare, makeUci } from "chessops/util";
import type { GameReference, Played, PlayedMove, Results } from "shelfish/book";
import type { Allowed } from "../board/board";
import { plural } from "../text/units";
import { ending, type Node, type Step, squares, steps } from "../game/game";
import { legalMoves } from "../game/legal-moves";

/** Of moves that were all played before, so many of the rarest are taken for new ones. */
const RAREST = 5;

/** Which moves may be played: those with a precedent, or those without. */
export type Mode = "precedent" | "unprecedented";

/** A move that may be played. */
export interface Choice {
  step: Step;
  /** Games that played it. */
  games: number;
}

/** All games of a result. */
export const games = ({ white, draws, black }: Results): number => white + draws + black;

/**
 * The moves that may be played from a position: the most played first; those without a precedent in the order of their names
 * or, where there is none, the rarest.
 */
export function choices(position: Position, played: Played, mode: Mode): Choice[] {
  const known = played.moves.flatMap((move) => {
    const [step] = steps(position, [move.uci]);
    return step ? [{ step, games: games(move) }] : [];
  });
  if (mode === "precedent") return known;
  const taken = new Set(known.map(({ step }) => makeUci(step.move)));
  const fresh = legal(position).filter((step) => !taken.has(makeUci(step.move)));
  if (fresh.length === 0) return known.reverse().slice(0, RAREST);
  return fresh.map((step) => ({ step, games: 0 })).sort((a, b) => (a.step.san < b.step.san ? -1 : 1));
}

/** Returns the legal moves of a position. */
export const legal = (position: Position): Step[] => legalMoves(position).flatMap((move) => steps(position, [makeUci(move)]));

/** The squares between which moves may be made, and what a pawn may become. */
export function allowed(position: Position, from: readonly Choice[]): Allowed {
  const dests = new Map<Key, Key[]>();
  for (const { step } of from) {
    const [orig, dest] = squares(position, step.move) as [Key, Key];
    // Castling goes to the rook, too.
    dests.set(orig, [...(dests.get(orig) ?? []), dest, makeSquare(step.move.to)]);
  }
  const offers = (orig: number, dest: number) =>
    new Map(from.filter(({ step: { move } }) => move.from === orig && move.to === dest && move.promotion).map(({ step, games }) => [step.move.promotion as Role, count(games)]));
  return { dests, offers };
}

/** What stands on the target squares: the games of all moves that go there, or of those of one piece. */
export function marks(position: Position, from: readonly Choice[], selected?: Key): Map<Key, string> {
  const sums = new Map<Key, number>();
  for (const { step, games } of from) {
    const [orig, dest] = squares(position, step.move) as [Key, Key];
    if (games > 0 && (!selected || orig === selected)) sums.set(dest, (sums.get(dest) ?? 0) + games);
  }
  return new Map([...sums].map(([dest, sum]) => [dest, count(sum)]));
}

/** A count that fits on a square: three figures at most. */
export function count(games: number): string {
  for (const [unit, letter] of [[1e9, "B"], [1e6, "M"], [1e3, "k"]] as const)
    if (games >= unit * 0.9995) return `${games < unit * 9.95 ? (games / unit).toFixed(1) : Math.round(games / unit)}${letter}`;
  return String(games);
}

/** What a book says of itself, as far as it matters here. */
export interface Limits {
  max_plies?: string;
  min_games?: string;
  whole_games?: string;
}

/** How a game ended, in words. */
export interface Verdict {
  title: string;
  text: string;
  /** Those of the games that ended so which the book refers to. */
  games: GameReference[];
}

/** What is said where no move may be played. `before` is what was played from the position before, if there is one. */
export function verdict(node: Node, played: Played, before: Played | undefined, mode: Mode, limits: Limits): Verdict {
  const move = before?.moves.find(({ uci }) => steps(node.parent?.position ?? node.position, [uci])[0]?.san === node.san);
  const same = games(played) === 0 ? move : played.ended;
  return { ...told(node, played, move, mode, limits), games: (mode === "precedent" && same?.games) || [] };
}

function told(node: Node, played: Played, move: PlayedMove | undefined, mode: Mode, limits: Limits): Pick<Verdict, "title" | "text"> {
  const over = ending(node.position);
  const [all, ended] = [games(played), games(played.ended)];
  if (mode === "unprecedented") {
    const text = all === 0 ? "No game of the book came here." : `${plural(all, "game")} came here before.`;
    return { title: over ? `${over.title}.` : "The end.", text };
  }
  if (all === 0) {
    const least = Number(limits.min_games ?? 1);
    const rest = least > 1 ? ` The book has only positions that at least ${least} games reached.` : "";
    if (!move) return { title: over ? `${over.title}.` : "No precedent.", text: `No game of the book reached this position.${rest}` };
    const count = games(move);
    return count === 1
      ? { title: "You replayed this game.", text: `One game alone played ${node.san} here.${rest}` }
      : { title: over ? `${over.title}.` : "The book ends here.", text: `${plural(count, "game")} played ${node.san}.${rest}` };
  }
  const exactly = `${plural(ended, "game")} ended exactly here.`;
  const most = Number(limits.max_plies ?? Number.POSITIVE_INFINITY);
  if (!over && node.ply >= most) {
    // Further on there are only games that the book has to their end, or that came here in fewer moves.
    const text = node.ply > most && limits.whole_games ? "the book goes no further" : `the book has the first ${limits.max_plies} half-moves of each`;
    return { title: all === 1 ? "You replayed this game." : "The book ends here.", text: `${plural(all, "game")} came this far; ${text}.` };
  }
  if (all === 1) return { title: "You replayed this game.", text: over ? `It ended here: ${over.title.toLowerCase()}.` : "It ended exactly here." };
  return { title: over ? `${over.title}.` : exactly, text: over ? exactly : results(played.ended) };
}

const results = ({ white, draws, black }: Results): string => `White won ${white}, Black won ${black}, ${draws} ${draws === 1 ? "was" : "were"} drawn.`;
