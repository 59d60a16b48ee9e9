/** A repertoire: the positions of a player's games with one colour, the moves that were played from them, and the moves that lose much again and again. */
import { makeFen } from "chessops/fen";
import { Chess, type Position } from "chessops/chess";
import type { Color, NormalMove } from "chessops/types";
import type { Results } from "shelfish";
import { games } from "../book/results";
import { uci } from "../game/game";
import { INACCURACY, isShallow, type KnownScore } from "../score/known-score";
import type { PlayedGame } from "../sites/request";
import { type Player, playerName, SITES } from "../players/player";

export interface RepertoireMove extends Results {
  uci: string;
  /** Key of the position after the move. */
  next: string;
  /** Numbers of the games that played the move. */
  games: number[];
}

export interface RepertoirePosition {
  /** Number of plies from the start, in the first game that reached the position. */
  ply: number;
  /** The move that led to the position in the first game; `undefined` for the start. */
  from?: { key: string; uci: string };
  /** The moves from the position, in the order of their first game. */
  moves: RepertoireMove[];
}

export interface Repertoire {
  side: Color;
  /** Number of games. */
  count: number;
  /** Positions by key: the first four fields of the FEN. */
  positions: Map<string, RepertoirePosition>;
}

/** Number of plies of each game that belong to a repertoire. */
export const PLIES = 30;

/** Number of games from which a move is looked up in the databases. */
const REPEATED = 2;

/** Returns the key of a position. */
export const keyOf = (position: Position): string =>
  makeFen(position.toSetup(), { epd: true });

/** Key of the position from which all repertoires start. */
export const START = keyOf(Chess.default());

const KINDS = { "1-0": "white", "0-1": "black", "1/2-1/2": "draws" } as const;

const emptyRepertoire = (side: Color): Repertoire => ({
  side,
  count: 0,
  positions: new Map([[START, { ply: 0, moves: [] }]]),
});

/** Collects games into a repertoire for each colour. */
export class RepertoireBuilder {
  readonly white = emptyRepertoire("white");
  readonly black = emptyRepertoire("black");

  /**
   * Adds the game with a number. A game counts once for a position, with the last move that it played from the position. Returns false for a game
   * with another start position, which has no place in the repertoire.
   */
  add(
    number: number,
    side: Color,
    result: PlayedGame["result"],
    start: Position,
    moves: readonly NormalMove[],
  ): boolean {
    if (keyOf(start) !== START) return false;
    const repertoire = this[side];
    repertoire.count++;
    const position = start.clone();
    const played = new Map<string, { uci: string; next: string }>();
    let key = START;
    for (const [ply, move] of moves.slice(0, PLIES).entries()) {
      position.play(move);
      const step = { uci: uci(move), next: keyOf(position) };
      if (!repertoire.positions.has(step.next))
        repertoire.positions.set(step.next, {
          ply: ply + 1,
          from: { key, uci: step.uci },
          moves: [],
        });
      played.set(key, step);
      key = step.next;
    }
    for (const [from, step] of played) {
      const known = repertoire.positions.get(from)?.moves ?? [];
      let move = known.find(({ uci }) => uci === step.uci);
      if (!move)
        known.push(
          (move = { ...step, white: 0, draws: 0, black: 0, games: [] }),
        );
      move[KINDS[result]]++;
      move.games.push(number);
    }
    return true;
  }
}

/** Whether the player of the repertoire moves in the position with this key. */
export const isOwnTurn = (key: string, side: Color): boolean =>
  key.split(" ", 2)[1] === (side === "white" ? "w" : "b");

/** Yields the own moves that were played at least `REPEATED` times, with the keys of their positions. */
export function* repeatedMoves({
  side,
  positions,
}: Repertoire): Generator<readonly [key: string, move: RepertoireMove]> {
  for (const [key, { moves }] of positions) {
    if (!isOwnTurn(key, side)) continue;
    for (const move of moves)
      if (move.games.length >= REPEATED) yield [key, move];
  }
}

/** Returns the moves in UCI that led to a position in the first game that reached it. */
export function lineTo({ positions }: Repertoire, key: string): string[] {
  const line: string[] = [];
  for (
    let from = positions.get(key)?.from;
    from;
    from = positions.get(from.key)?.from
  )
    line.unshift(from.uci);
  return line;
}

/** Returns the points per game of a side, from 0 to 1. */
export const scoreOf = (results: Results, side: Color): number =>
  (results[side] + results.draws / 2) / games(results);

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

/** The numbers of games that can be chosen: the last games of the player. */
export const COUNTS = [100, 300, 1_000, 3_000, 5_000] as const;

export const USUAL_COUNT = 1_000;

/** Maximum number of moves in an address. */
const MAX_MOVES = 200;

export interface Place {
  /** The player; `undefined` if the address names no player with a valid name. */
  player?: Player;
  count: number;
  side: Color;
  /** Moves in UCI, which may be illegal. */
  line: readonly string[];
}

/** Reads a fragment without "#". Invalid parts are replaced by the usual values. */
export function parsePlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment);
  const count = Number(fields.get("games"));
  const player = (Object.keys(SITES) as Player["site"][]).flatMap((site) => {
    const named = playerName(`@${fields.get(site) ?? ""}`);
    return named ? [{ site, name: named.name }] : [];
  })[0];
  return {
    ...(player ? { player } : {}),
    count: COUNTS.find((each) => each === count) ?? USUAL_COUNT,
    side: fields.get("color") === "black" ? "black" : "white",
    line: (fields.get("line") ?? "").split(",", MAX_MOVES).filter(Boolean),
  };
}

/** Writes a fragment without "#". */
export function formatPlace({ player, count, side, line }: Place): string {
  if (!player) return "";
  return [
    `${player.site}=${player.name}`,
    ...(count === USUAL_COUNT ? [] : [`games=${count}`]),
    ...(side === "black" ? ["color=black"] : []),
    ...(line.length > 0 ? [`line=${line.join(",")}`] : []),
  ].join("&");
}
