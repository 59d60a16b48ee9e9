/** Facts about Stockfish that a reader sees before its files load. */

/** Name for readers, and for the results in IndexedDB. */
export const STOCKFISH = "Stockfish 10";
/** Size of its script and its module in kilobytes, compressed as most hosts send them. */
export const STOCKFISH_SIZE = 140;
/** Typical nodes per second of a Worker. */
const SPEED = 500_000;
/** Mean number of nodes for each position of a game, as a multiple of the nodes for a doubtful move. */
const SHARE = 1;

/** Returns the approximate number of seconds of a check. */
export const stockfishSeconds = (
  positions: number,
  nodes: number,
  workers: number,
): number => (SHARE * positions * nodes) / (SPEED * workers);
