// A game of the maximum length.

/** Returns the PGN of a game with this number of moves, a multiple of 2, in which knights move out and back. */
export function longGame(/** @type {number} */ moves) {
  const pairs = Array.from(
    { length: moves / 2 },
    (_, i) => `${2 * i + 1}. Nf3 Nf6 ${2 * i + 2}. Ng1 Ng8`,
  );
  return `[White "Long"]\n[Black "Game"]\n\n${pairs.join(" ")} *`;
}
