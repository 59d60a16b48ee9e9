// A game as long as games get.

/** The PGN of a game of as many moves (a multiple of 2) in which knights go out and home again. */
export function longGame(/** @type {number} */ moves) {
  const pairs = Array.from({ length: moves / 2 }, (_, i) => `${2 * i + 1}. Nf3 Nf6 ${2 * i + 2}. Ng1 Ng8`);
  return `[White "Long"]\n[Black "Game"]\n\n${pairs.join(" ")} *`;
}
