// Scores, White's point of view.

import type { Known, Ply } from "./line.js";

/** Winning chances from −1 to 1, by the formula that Lichess publishes; 1 and −1 for mates. */
export function chances({ cp, mate }: Pick<Known, "cp" | "mate">): number {
  if (mate !== undefined) return Math.sign(mate);
  return 2 / (1 + Math.exp(-0.00368208 * Math.max(-1000, Math.min(1000, cp ?? 0)))) - 1;
}

/** "+0.36", "−1.20", "0.00", "#3", "#−5" */
export function written({ cp = 0, mate }: Pick<Known, "cp" | "mate">): string {
  if (mate !== undefined) return `#${String(mate).replace("-", "−")}`;
  return `${cp > 0 ? "+" : cp < 0 ? "−" : ""}${Math.abs(cp / 100).toFixed(2)}`;
}

/** The chances at a ply: those of the evaluation, or of the game's end; `undefined` if nothing is known. */
export function standing(ply: Ply, known: Known | null | undefined): number | undefined {
  return ply.over ?? (known ? chances(known) : undefined);
}
