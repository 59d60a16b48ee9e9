/** The terms of a game: the engine's level, the user's colour, the clock and the start position. Times are in milliseconds. */
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import { clockText } from "../text/words";

/** Minutes for the game, and seconds added after each move. */
export interface Control {
  minutes: number;
  increment: number;
}

/** Remaining time of each side. */
export type Left = Record<Color, number>;

/** A chess clock, stopped at first; `now` is a point in time. */
export class Clock {
  readonly #left: Left;
  #running: Color | undefined;
  #since = 0;

  /** `left` is the remaining time in a game that is continued. */
  constructor(
    private readonly control: Control,
    left?: Left,
  ) {
    const whole = control.minutes * 60_000;
    this.#left = { white: left?.white ?? whole, black: left?.black ?? whole };
  }

  /** Returns the remaining time of a side, at least 0. */
  left(side: Color, now: number): number {
    return Math.max(
      0,
      this.#left[side] - (this.#running === side ? now - this.#since : 0),
    );
  }

  /** The side whose time is running. */
  get running(): Color | undefined {
    return this.#running;
  }

  /** Milliseconds added after each move. */
  get increment(): number {
    return this.control.increment * 1000;
  }

  start(side: Color, now: number): void {
    this.stop(now);
    [this.#running, this.#since] = [side, now];
  }

  /** Ends the turn of the running side: adds the increment and starts the time of the other side. */
  press(now: number): void {
    const side = this.#running;
    if (!side) return;
    this.stop(now);
    this.#left[side] += this.increment;
    this.start(opposite(side), now);
  }

  stop(now: number): void {
    if (this.#running)
      this.#left[this.#running] = this.left(this.#running, now);
    this.#running = undefined;
  }
}

/** Formats a time: "1:05:00", "4:05", or "9.3" below ten seconds. */
export function shown(milliseconds: number): string {
  if (milliseconds < 10_000)
    return (Math.floor(milliseconds / 100) / 10).toFixed(1);
  return clockText(Math.ceil(milliseconds / 1000));
}

export interface Terms {
  side: Color;
  /** The engine's level; undefined for full strength. */
  elo?: number | undefined;
  /** Undefined for a game without a clock. */
  control?: Control | undefined;
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

/** "5 + 3", "No clock" */
export const controlName = (control: Control | undefined): string =>
  control ? `${control.minutes} + ${control.increment}` : "No clock";
