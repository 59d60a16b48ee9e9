import type { Results } from "shelfish/book";

/** Returns the number of games. */
export const games = ({ white, draws, black }: Results): number =>
  white + draws + black;

/** Formats a share in percent. A share below 1 % has a decimal. Only nothing is 0 %, and only all is 100 %. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return "<0.1 %";
  if (share > 99 && share < 100) return ">99 %";
  return `${share > 0 && share < 0.95 ? share.toFixed(1) : Math.round(share)} %`;
}
