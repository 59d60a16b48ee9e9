// Texts that elements show.

/** Returns a score with a real minus sign. */
export const minus = (score: string): string => score.replace("-", "−");
