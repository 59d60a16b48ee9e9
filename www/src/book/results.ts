import type { Results } from "shelfish/book";

/** Returns the number of games. */
export const games = ({ white, draws, black }: Results): number => white + draws + black;

/** Formats a share in percent; a share below 1 % gets a decimal, so that it is not shown as 0. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return `${share > 0 && share < 1 ? Math.max(0.1, share).toFixed(1) : Math.round(share)} %`;
}
