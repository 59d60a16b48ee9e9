/** A chess clock without a view. Times are in milliseconds; `now` is a point in time. */
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import { clockText } from "../text/units";

/** Minutes for the game, and seconds added after each move. */
export interface Control {
  minutes: number;
  increment: number;
}

/** Remaining time of each side. */
export type Left = Record<Color, number>;

/** A clock, stopped at first. */
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
