// What the WASM module of the engine imports; the Worker puts its own functions here.

/** A line as the module tells of it; scores are White's. */
export type Found = (
  more: boolean,
  depth: number,
  deepest: number,
  nodes: number,
  isMate: boolean,
  score: number,
  uci: string,
  san: string,
) => void;

export const host: { pause: () => boolean; found: Found } = { pause: () => false, found: () => {} };

export const now = () => performance.now();
export const pause = () => host.pause();
export const found: Found = (...line) => host.found(...line);
