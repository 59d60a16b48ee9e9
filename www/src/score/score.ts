/** Scores and numbers of nodes as text. */
import type { ScoreLike } from "../../../crate/js/shared/score.ts";

/** Winning chances, from −1 to 1, whose loss makes a move an inaccuracy. A move that loses less is a good answer to a question. */
export const INACCURACY = 0.1;

/** Returns the centipawns of a score from the point of view of a side. A mate counts more than all centipawns. */
export function centipawnsFor(
  side: "white" | "black",
  { cp = 0, mate }: ScoreLike,
): number {
  const white = mate === undefined ? cp : Math.sign(mate) * Infinity;
  return side === "white" ? white : -white;
}

/** Returns a score in words, for screen readers. */
export function scoreInWords({ cp = 0, mate }: ScoreLike): string {
  if (mate !== undefined)
    return `${mate > 0 ? "White" : "Black"} mates in ${Math.abs(mate)}`;
  if (cp === 0) return "Equal";
  return `${cp > 0 ? "White" : "Black"} is better by ${(Math.abs(cp) / 100).toFixed(2)}`;
}

/** Formats thousands of nodes: "575 kn", "12.3 Mn", "4.5 Gn". */
export function nodesText(knodes: number): string {
  if (knodes < 1000) return `${knodes} kn`;
  const mega = knodes / 1000;
  return mega < 1000
    ? `${mega < 10 ? mega.toFixed(1) : Math.round(mega)} Mn`
    : `${(mega / 1000).toFixed(1)} Gn`;
}
