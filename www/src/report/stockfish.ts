/** Stockfish of the package `stockfish`, which checks the report on request. The site contains its files; they load with its first search. */
import type { GameEngine } from "shelfish/analysis";
import script from "stockfish/src/stockfish.js?url";
import module from "stockfish/src/stockfish.wasm?url";
import { STOCKFISH } from "./stockfish-facts";

/**
 * Centipawns of Stockfish 10, and of Stockfish 15.1, on whose scale judgments are defined: quantiles of the scores of 260 positions of
 * games, at 400,000 and 1,000,000 nodes. The last segment continues beyond the last knot.
 */
const KNOTS = [
  [0, 0],
  [60, 46],
  [120, 92],
  [200, 190],
  [320, 350],
  [450, 470],
  [720, 556],
  [960, 628],
  [1_300, 760],
  [20_000, 8_500],
] as const;

/** An engine of a game that can be closed. */
export type ClosableEngine = GameEngine & { close(): void };

/** Opens Stockfish. Its Workers start with the first search. */
export async function openStockfish(workers: number): Promise<ClosableEngine> {
  const { openUciEngine } = await import("shelfish/evaluator");
  const wasm = new URL(module, location.href).href;
  // Contempt would change the scores by the side to move.
  const engine = openUciEngine({
    name: STOCKFISH,
    worker: () => new Worker(`${script}#${wasm}`),
    workers,
    options: { Contempt: 0 },
  });
  const scaled = <T extends { pvs: readonly { cp?: number }[] }>(
    found: T,
  ): T => ({
    ...found,
    pvs: found.pvs.map((pv) =>
      pv.cp === undefined ? pv : { ...pv, cp: ofStockfish15(pv.cp) },
    ),
  });
  return {
    name: STOCKFISH,
    analyseSequence: async (fens, { onAnswer, ...options }) =>
      (
        await engine.analyseSequence(fens, {
          ...options,
          onAnswer: (index, found) => onAnswer?.(index, scaled(found)),
        })
      ).map(scaled),
    close: () => engine.close(),
  };
}

/** Converts centipawns to the scale of Stockfish 15.1. */
export function ofStockfish15(cp: number): number {
  const size = Math.abs(cp);
  const next = KNOTS.findIndex(([from]) => size <= from);
  const [last, lastTo] = KNOTS.at(-1)!;
  if (next <= 0) return size > last ? Math.sign(cp) * lastTo : 0;
  const [[from, to], [end, endTo]] = [KNOTS[next - 1]!, KNOTS[next]!];
  return (
    Math.sign(cp) *
    Math.round(to + ((size - from) * (endTo - to)) / (end - from))
  );
}
