/** A chess clock: it knows whose time runs, and nothing of the page. Times are milliseconds; `now` is a moment. */

export type Side = "white" | "black";

/** Minutes for the game, and seconds that each move adds. */
export interface Control {
  minutes: number;
  increment: number;
}

/** What each side has left. */
export type Left = Record<Side, number>;

export const other = (side: Side): Side => (side === "white" ? "black" : "white");

/** The clock of a game. It stands until it is started. */
export class Clock {
  readonly #left: Left;
  #running: Side | undefined;
  #since = 0;

  /** `left` is what a game that goes on had left. */
  constructor(
    private readonly control: Control,
    left?: Left,
  ) {
    const whole = control.minutes * 60_000;
    this.#left = { white: left?.white ?? whole, black: left?.black ?? whole };
  }

  /** What a side has left, never less than nothing. */
  left(side: Side, now: number): number {
    return Math.max(0, this.#left[side] - (this.#running === side ? now - this.#since : 0));
  }

  /** Whose time runs. */
  get running(): Side | undefined {
    return this.#running;
  }

  /** Milliseconds that a move adds. */
  get increment(): number {
    return this.control.increment * 1000;
  }

  /** Lets the time of a side run. */
  start(side: Side, now: number): void {
    this.stop(now);
    [this.#running, this.#since] = [side, now];
  }

  /** The side whose time runs has moved: its time grows by the increment, and that of the other runs. */
  press(now: number): void {
    const side = this.#running;
    if (!side) return;
    this.stop(now);
    this.#left[side] += this.increment;
    this.start(other(side), now);
  }

  stop(now: number): void {
    if (this.#running) this.#left[this.#running] = this.left(this.#running, now);
    this.#running = undefined;
  }
}

/** "1:05:00", "4:05", and below ten seconds "9.3". */
export function shown(milliseconds: number): string {
  if (milliseconds < 10_000) return (Math.floor(milliseconds / 100) / 10).toFixed(1);
  const seconds = Math.ceil(milliseconds / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
