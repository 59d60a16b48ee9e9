/**
 * Chooses a book move at random, weighted by its frequency and its results. The native program has the same rule in `book/choice.rs`;
 * `tests/data/choice.json` tests both.
 */

/** A book move with its results for the side that plays it. */
export interface Candidate {
  /** The move; castling is the king's move to its rook. */
  uci: string;
  /** Number of games with the move, including games without a result. */
  frequency: number;
  wins: number;
  draws: number;
  losses: number;
}

/**
 * Returns the weight of a move: its frequency times its score, from 0 to 1. A win and a loss are added to the results (Laplace's rule of
 * succession), because one game proves little.
 */
export const weight = ({ frequency, wins, draws, losses }: Candidate): number =>
  (frequency * (wins + draws / 2 + 1)) / (wins + draws + losses + 2);

/** Sorts the candidates by weight, then by frequency, then by name. */
export function sorted(
  candidates: readonly Candidate[],
  minFrequency = 1,
): Candidate[] {
  const order = (a: Candidate, b: Candidate) =>
    weight(b) - weight(a) ||
    b.frequency - a.frequency ||
    (a.uci < b.uci ? -1 : 1);
  return candidates
    .filter(({ frequency }) => frequency >= minFrequency && frequency > 0)
    .sort(order);
}

/** Returns the candidate for a random number from 0 (inclusive) to 1 (exclusive); 0 gives the first. */
export function choose(
  candidates: readonly Candidate[],
  random: number,
): Candidate | undefined {
  let rest =
    random * candidates.reduce((sum, candidate) => sum + weight(candidate), 0);
  for (const candidate of candidates) {
    rest -= weight(candidate);
    if (rest < 0) return candidate;
  }
  return candidates.at(-1);
}
