/** The limits of a book. A position that is not in a limited book may still have been played. */

/** The limits in the manifest. */
export interface Limits {
  max_plies?: string;
  min_games?: string;
  whole_games?: string;
}

/** Says that a position is not in the book, and which positions the book has. */
export function absentText({ max_plies, min_games }: Limits): string {
  const least = Number(min_games ?? 1);
  const limits = [
    max_plies ? `the first ${max_plies} half-moves of each game` : "",
    least > 1 ? `only positions that at least ${least} games reached` : "",
  ];
  const limited = limits.filter(Boolean).join(" and ");
  return `This position is not in the book${limited ? `, which has ${limited}` : ""}.`;
}
