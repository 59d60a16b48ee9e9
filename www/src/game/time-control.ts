/** Time controls of games, and their speeds. */

/** A stage of a time control: a number of moves, or the rest of the game. */
export interface Stage {
  /** Own moves of the stage; `undefined` for the rest of the game. */
  moves: number | undefined;
  /** Seconds. */
  base: number;
  /** Seconds that each move adds. */
  increment: number;
}

/** Maximum number of stages of a time control. */
const MAX_STAGES = 5;
/** Own moves of a game by which Lichess estimates its duration. */
const USUAL_MOVES = 40;

/** The speeds of games, from fast to slow. */
export const SPEEDS = [
  "bullet",
  "blitz",
  "rapid",
  "classical",
  "correspondence",
] as const;

export type Speed = (typeof SPEEDS)[number];

/** Seconds of the longest game of each speed (`Speed` of scalachess). A game of 40 moves counts. */
const LONGEST: readonly (readonly [speed: Speed, seconds: number])[] = [
  ["bullet", 179],
  ["blitz", 479],
  ["rapid", 1_499],
  ["classical", 21_600],
];

/** Reads the tag TimeControl of a PGN: "300+5", "40/5400+30:1800+30", "1/259200". Returns `undefined` if it says nothing about the clock. */
export function stagesOf(control: string | undefined): Stage[] | undefined {
  const texts = (control ?? "").split(":");
  const stages = texts.map((text) =>
    /^(?:(\d{1,3})\/)?(\d{1,8})(?:\+(\d{1,6}(?:\.\d{1,3})?))?$/.exec(
      text.trim(),
    ),
  );
  if (texts.length > MAX_STAGES) return undefined;
  return stages.every((stage) => stage !== null)
    ? stages.map(([, moves, base, increment]) => ({
        moves: Number(moves) || undefined,
        base: Number(base),
        increment: Number(increment ?? 0),
      }))
    : undefined;
}

/** Returns the speed of a time control by the rule of Lichess; `undefined` if it says nothing about the clock. */
export function speedOf(control: string | undefined): Speed | undefined {
  const [stage] = stagesOf(control) ?? [];
  if (!stage) return undefined;
  const { moves, base, increment } = stage;
  // Each move has its own time.
  if (moves === 1) return "correspondence";
  return (
    LONGEST.find(([, most]) => base + USUAL_MOVES * increment <= most)?.[0] ??
    "correspondence"
  );
}
