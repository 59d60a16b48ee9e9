/** Returns the number of Workers of an analysis. */
export const workerCount = (): number =>
  Math.max(2, Math.min(4, (navigator.hardwareConcurrency || 2) - 1));
