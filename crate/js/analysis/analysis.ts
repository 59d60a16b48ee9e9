// Reports on games, and PGN with evaluations.

import { unlessAborted } from "../shared/abort.js";
import { enter, enterSync } from "../shared/errors.js";
import { ready } from "../shared/load.js";
import { checked, joinMoves, usage } from "../shared/options.js";
import {
  annotate,
  imports,
  read,
  report,
  start,
} from "../shelfish_analysis.js";
import { encode } from "./encode.js";
import { analyseGame } from "./game.js";
import type { Analysis, AnalysisOptions, Game } from "./types.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "../shared/errors.js";
export type { Wasm } from "../shared/types.js";
export type * from "./types.js";
export { knownEval } from "./game.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/analysis",
  file: "shelfish_analysis_bg.wasm",
  call: "openAnalysis({ wasm })",
};

const analysis: Analysis = {
  report: (game) =>
    enterSync(() => {
      const { fen, moves, evaluations } = checked<Game>("report", game, {
        fen: "other",
        moves: "other",
        evaluations: "other",
      });
      return report(
        fen ?? undefined,
        joinMoves("moves", moves),
        ...encode(evaluations),
      );
    }),
  annotate: (pgn, evaluations) =>
    enterSync(() => annotate(pgnText("annotate", pgn), ...encode(evaluations))),
  read: (pgn) => enterSync(() => read(pgnText("read", pgn))),
  analyseGame: (pgn, options) =>
    enter(() => analyseGame(pgnText("analyseGame", pgn), options)),
};

/** Returns a PGN. Throws if the argument is no text. */
function pgnText(call: string, pgn: unknown): string {
  if (typeof pgn !== "string")
    throw usage(`${call}: expected a PGN as text, found ${typeof pgn}`);
  return pgn;
}

/**
 * Loads the WASM module of the analysis once.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function openAnalysis(options?: AnalysisOptions): Promise<Analysis> {
  return enter(async () => {
    const { wasm, signal } = checked("openAnalysis", options, {
      wasm: "other",
      signal: "signal",
    });
    await unlessAborted(ready(MODULE, wasm), signal, "loading");
    return analysis;
  });
}
