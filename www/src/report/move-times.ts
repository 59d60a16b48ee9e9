/** Times of the moves of a game, from the clocks in the comments of its PGN. */
import type { Node } from "../game/game";
import { type Stage, stagesOf } from "../game/time-control";

/** Seconds by which whole seconds of a clock can be wrong. */
const ROUNDING = 1;

/**
 * Returns the seconds that each move of a line took; `undefined` for the root and for a move of unknown time. `[%emt]` is the time
 * itself. `[%clk]` is the time left: its difference to the clock after the mover's previous move, plus the increment. A clock that
 * went up by more than the increment is malformed, or time was added: the time of the move is unknown.
 */
export function moveTimes(
  line: readonly Node[],
  control: string | undefined,
): (number | undefined)[] {
  const stages = stagesOf(control);
  const sides = { white: new Clock(stages), black: new Clock(stages) };
  return line.map(({ parent, notes }) => {
    if (!parent) return undefined;
    const spent = sides[parent.position.turn].spent(notes.clock);
    return notes.elapsed !== undefined && notes.elapsed >= 0
      ? notes.elapsed
      : spent;
  });
}

/** The clock of a side. */
class Clock {
  /** Seconds after the previous move; `undefined` if that is unknown. */
  #before: number | undefined;
  #moves = 0;
  /** Own moves at the end of the current stage. */
  #end: number;
  #stage = 0;

  constructor(private readonly stages: readonly Stage[] | undefined) {
    this.#end = stages?.[0]?.moves ?? Infinity;
  }

  /** Returns the seconds that the next move took, which leaves `after` seconds. */
  spent(after: number | undefined): number | undefined {
    const before = this.#before;
    this.#before = after;
    const isFirst = this.#moves++ === 0;
    const stage = this.stages?.[this.#stage];
    if (!stage || after === undefined) return undefined;
    const { base, increment } = stage;
    // In a correspondence game each move has its own time.
    if (stage.moves === 1) return inRange(base - after);
    // Servers add the increment to the first move, or begin the clock after it. Without an increment both are the same.
    if (before === undefined)
      return isFirst && increment === 0 ? inRange(base - after) : undefined;
    const time = before + increment - after;
    const next = this.stages[this.#stage + 1];
    if (time < -ROUNDING && next && this.#moves >= this.#end) {
      this.#stage++;
      this.#end += next.moves ?? Infinity;
      return inRange(time + next.base);
    }
    return inRange(time);
  }
}

/** Returns a time that is not negative. Rounded clocks count as 0; `undefined` for other negative times. */
const inRange = (seconds: number): number | undefined =>
  seconds < -ROUNDING ? undefined : Math.max(0, Math.round(seconds * 10) / 10);

/** Describes a duration: "0.4 s", "12 s", "4 min 7 s", "1 h 5 min", "2 d 3 h". */
export function timeText(seconds: number): string {
  if (seconds < 9.95)
    return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => whole >= size);
  const parts = units
    .slice(first, first + 2)
    .map(
      ([unit, size], index) =>
        `${Math.floor((index === 0 ? whole : whole % units[first]![1]) / size)} ${unit}`,
    );
  return parts
    .filter((part, index) => index === 0 || !part.startsWith("0 "))
    .join(" ");
}
