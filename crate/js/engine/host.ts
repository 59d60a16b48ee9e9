// Functions that the WASM module of the engine imports. The Worker sets `host`.

/** Reports a variation. Scores are from White's point of view. */
export type Report = (
  more: boolean,
  depth: number,
  deepest: number,
  nodes: number,
  isMate: boolean,
  score: number,
  uci: string,
  san: string,
) => void;

export const host: { pause: () => boolean; report: Report } = {
  pause: () => false,
  report: () => {},
};

export const now = () => performance.now();
export const pause = () => host.pause();
export const report: Report = (...line) => host.report(...line);
