/** The terms of a game: the engine's level, the user's colour, the clock and the start position. */
import type { Color } from "chessops/types";
import type { Control } from "./clock";

export interface Terms {
  side: Color;
  /** The engine's level; undefined for full strength. */
  elo?: number | undefined;
  /** Undefined for a game without a clock. */
  control?: Control | undefined;
  /** FEN of the start position; undefined for the standard position. */
  fen?: string | undefined;
  /** Whether the engine plays openings from a book and learns from the result. */
  book?: boolean | undefined;
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

/** "Club player, 1600", "Full strength" */
export function levelName(elo: number | undefined): string {
  const name = LEVELS.find(([each]) => each === elo)?.[1] ?? "Engine";
  return elo === undefined ? name : `${name}, ${elo}`;
}

/** The available clocks; undefined for no clock. */
export const CONTROLS: readonly (Control | undefined)[] = [
  undefined,
  { minutes: 1, increment: 0 },
  { minutes: 3, increment: 2 },
  { minutes: 5, increment: 3 },
  { minutes: 10, increment: 5 },
  { minutes: 15, increment: 10 },
  { minutes: 30, increment: 0 },
];

/** Returns a control with other times than the available clocks, or `undefined` if the times are outside of the limits. */
export function ownControl(
  minutes: unknown,
  increment: unknown,
): Control | undefined {
  const isTime = (value: unknown, most: number): value is number =>
    typeof value === "number" &&
    Number.isFinite(value) &&
    value >= 0 &&
    value <= most;
  return isTime(minutes, 180) && minutes >= 0.5 && isTime(increment, 60)
    ? { minutes, increment }
    : undefined;
}

/** "5 + 3", "No clock" */
export const controlName = (control: Control | undefined): string =>
  control ? `${control.minutes} + ${control.increment}` : "No clock";
