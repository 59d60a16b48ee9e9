/** Counts the evaluations of a report by origin. */
import type { Assessment } from "../state/state";

/** Returns how many positions a PGN, the engine and Stockfish have evaluated. */
export function countOrigins({
  evaluations,
}: Pick<Assessment, "evaluations">): {
  pgn: number;
  engine: number;
  stockfish: number;
} {
  const count = (...origins: string[]) =>
    evaluations.filter(
      (known) => known && origins.includes(known.from ?? "database"),
    ).length;
  return {
    pgn: count("pgn"),
    engine: count("engine"),
    stockfish: count("uci", "stockfish"),
  };
}
