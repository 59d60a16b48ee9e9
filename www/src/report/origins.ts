/** Counts the evaluations of a report by origin. */
import type { Assessment } from "../state/state";

/** Returns how many positions a PGN and engines have evaluated. */
export function countOrigins({ evaluations }: Pick<Assessment, "evaluations">): { pgn: number; engine: number } {
  const count = (...origins: string[]) => evaluations.filter((known) => known && origins.includes(known.from ?? "database")).length;
  return { pgn: count("pgn"), engine: count("engine", "uci", "stockfish") };
}
