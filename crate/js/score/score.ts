// Scores from White's point of view: as text, and as winning chances.

/** A score: either centipawns or moves to mate. */
export interface ScoreLike {
  cp?: number | undefined;
  mate?: number | undefined;
}

/** Returns the score as text: `"+0.36"`, `"-1.20"`, `"0.00"`, `"#3"`, `"#-5"`. */
export function scoreText({ cp = 0, mate }: ScoreLike): string {
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : cp < 0 ? "-" : ""}${(Math.abs(cp) / 100).toFixed(2)}`;
}

/**
 * Returns White's winning chances from -1 to 1, by the formula of Lichess. Centipawns are limited to ±1000. A mate is worth
 * ±1.
 */
export function winningChances({ cp = 0, mate }: ScoreLike): number {
  if (mate !== undefined) return Math.sign(mate);
  return (
    2 / (1 + Math.exp(-0.00368208 * Math.max(-1000, Math.min(1000, cp)))) - 1
  );
}

/** Returns the score after `plies` of its line, which shorten the distance to mate. `turn` is the side that moves first. */
export function scoreAfter(
  { cp, mate }: ScoreLike,
  plies: number,
  turn: "white" | "black",
): ScoreLike {
  if (mate === undefined) return { cp };
  // The side that mates in n moves needs 2n - 1 plies if it moves first, else 2n.
  const left =
    2 * Math.abs(mate) - (mate > 0 === (turn === "white") ? 1 : 0) - plies;
  const moves = Math.max(1, Math.ceil(left / 2));
  return { mate: mate > 0 ? moves : -moves };
}
