/** The terms of a game: the engine's level, the user's colour, and the start position. */
import type { Color } from "chessops/types";

export interface Terms {
  side: Color;
  /** The engine's level; undefined for full strength. */
  elo?: number | undefined;
  /** FEN of the start position; undefined for the standard position. */
  fen?: string | undefined;
}

/** The available levels, in the engine's own ratings. */
export const LEVELS: readonly (readonly [
  elo: number | undefined,
  name: string,
])[] = [
  [800, "Beginner"],
  [1000, "Learner"],
  [1200, "Casual player"],
  [1400, "Keen player"],
  [1600, "Club player"],
  [1800, "Strong club player"],
  [2000, "Expert"],
  [2200, "Candidate master"],
  [2400, "Master"],
  [2600, "Grandmaster"],
  [undefined, "Full strength"],
];

/** Returns how many half-moves of theory a level knows: a beginner one move, a club player five, a grandmaster ten. */
export const theory = (elo = Infinity): number => (elo - 600) / 100;

/** "Club player, 1600", "Full strength" */
export function levelName(elo: number | undefined): string {
  const name = LEVELS.find(([each]) => each === elo)?.[1] ?? "Engine";
  return elo === undefined ? name : `${name}, ${elo}`;
}
