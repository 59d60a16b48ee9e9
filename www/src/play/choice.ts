/**
 * Which move a book plays: at random, by how often it was played and how it went. The native program has the same in
 * `book/choice.rs`; both are tested by `tests/data/choice.json`.
 */

/** A move that a book may play, with what came of it for the side that plays it. */
export interface Candidate {
  /** The move, castling as the king's move to its rook. */
  uci: string;
  /** How often it was played, also in games without a result. */
  frequency: number;
  wins: number;
  draws: number;
  losses: number;
}

/**
 * The chance to be played, against the weights of the others: the frequency times the score, from 0 to 1. The score is smoothed
 * by a win and a loss more, after Laplace's rule of succession, so that one game is no proof.
 */
export const weight = ({ frequency, wins, draws, losses }: Candidate): number => (frequency * (wins + draws / 2 + 1)) / (wins + draws + losses + 2);

/** What is left to choose from: the heaviest first, then the more frequent, then by the letters of the move. */
export function sorted(candidates: readonly Candidate[], minFrequency = 1): Candidate[] {
  const order = (a: Candidate, b: Candidate) => weight(b) - weight(a) || b.frequency - a.frequency || (a.uci < b.uci ? -1 : 1);
  return candidates.filter(({ frequency }) => frequency >= minFrequency && frequency > 0).sort(order);
}

/** The candidate to play, by a random number from 0 to 1, 1 excluded; with 0 it is the first. */
export function choose(candidates: readonly Candidate[], random: number): Candidate | undefined {
  let rest = random * candidates.reduce((sum, candidate) => sum + weight(candidate), 0);
  for (const candidate of candidates) {
    rest -= weight(candidate);
    if (rest < 0) return candidate;
  }
  return candidates.at(-1);
}
