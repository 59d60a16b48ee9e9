/** Scores from White's point of view: as text, in words, and as winning chances. */

/** A score from White's point of view, in centipawns or moves to mate; one of the two is set. */
export interface Score {
  cp?: number;
  mate?: number;
}

/** Returns White's winning chances from -1 to 1, by the logistic curve that Lichess fitted to games of human players. */
export function winningChances({ cp, mate }: Score): number {
  if (mate !== undefined) return mate > 0 ? 1 : -1;
  const bounded = Math.max(-1000, Math.min(1000, cp ?? 0));
  return 2 / (1 + Math.exp(-0.00368208 * bounded)) - 1;
}

/** Returns the score in words, for screen readers. */
export function scoreInWords({ cp, mate }: Score): string {
  if (mate !== undefined) return `${mate > 0 ? "White" : "Black"} mates in ${Math.abs(mate)}`;
  const pawns = (cp ?? 0) / 100;
  if (pawns === 0) return "Equal";
  return `${pawns > 0 ? "White" : "Black"} is better by ${Math.abs(pawns).toFixed(2)}`;
}

/** Formats thousands of nodes: "575 kn", "12.3 Mn", "4.5 Gn". */
export function nodesText(knodes: number): string {
  if (knodes < 1000) return `${knodes} kn`;
  const mega = knodes / 1000;
  return mega < 1000 ? `${mega < 10 ? mega.toFixed(1) : Math.round(mega)} Mn` : `${(mega / 1000).toFixed(1)} Gn`;
}

/** Formats a score: "+0.20", "-1.25", "0.00", "#3", "#-5". */
export function scoreText({ cp, mate }: Score): string {
  if (mate !== undefined) return `#${mate}`;
  const pawns = (cp ?? 0) / 100;
  return `${pawns > 0 ? "+" : ""}${pawns.toFixed(2)}`;
}
