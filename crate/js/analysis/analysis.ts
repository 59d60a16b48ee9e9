// Reports on games, and PGN with evaluations.

import { unlessAborted } from "../shared/abort.js";
import { enter, enterSync, ShelfishError } from "../shared/errors.js";
import { ready } from "../shared/load.js";
import { checked, joinMoves } from "../shared/options.js";
import type { PositionEval } from "../shared/types.js";
import { annotate, imports, read, report, start } from "../shelfish_analysis.js";
import type { Analysis, AnalysisOptions, Game, KnownEval } from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "../shared/errors.js";
export type { Wasm } from "../shared/types.js";
export type * from "./types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/analysis",
  file: "shelfish_analysis_bg.wasm",
  call: "openAnalysis({ wasm })",
};

/** Converts an answer of a database. Returns `null` if the database has no answer. */
export function knownEval(answer: PositionEval | null | undefined | ShelfishError): KnownEval | null {
  if (!answer || !("best" in answer)) return null;
  const { depth, knodes, pvs } = answer.best;
  const [{ cp, mate, uci }] = pvs;
  return { cp, mate, depth, knodes, line: uci, from: "database" };
}

const usage = (message: string) => new ShelfishError({ code: "usage", message });

/** Encodes evaluations for the module: three numbers for each evaluation, and the lines as text. */
function encode(evaluations: unknown): [numbers: Float64Array, lines: string] {
  if (!Array.isArray(evaluations)) throw usage(`evaluations: expected a list, found ${typeof evaluations}`);
  const numbers = new Float64Array(3 * evaluations.length).fill(NaN);
  const lines = evaluations.map((entry: unknown, n) => {
    if (entry === null || entry === undefined) return "";
    const { cp, mate, depth, line } = entry as KnownEval;
    const score = cp ?? mate;
    if ((cp ?? mate) !== (mate ?? cp) || !Number.isInteger(score) || Math.abs(score!) > 0x7fffffff) {
      throw usage(`evaluations[${n}]: expected a whole number as either cp or mate`);
    }
    if (depth !== undefined && !(depth >= 0)) throw usage(`evaluations[${n}].depth: expected plies, found ${String(depth)}`);
    numbers.set([cp ?? NaN, cp === undefined || cp === null ? score! : NaN, depth ?? NaN], 3 * n);
    return line ? joinMoves(`evaluations[${n}].line`, line) : "";
  });
  return [numbers, lines.join("\n")];
}

const analysis: Analysis = {
  report: (game) =>
    enterSync(() => {
      const { fen, moves, evaluations } = checked<Game>("report", game, { fen: "other", moves: "other", evaluations: "other" });
      return report(fen ?? undefined, joinMoves("moves", moves), ...encode(evaluations));
    }),
  annotate: (pgn, evaluations) => enterSync(() => annotate(pgnText("annotate", pgn), ...encode(evaluations))),
  read: (pgn) => enterSync(() => read(pgnText("read", pgn))),
};

/** Returns a PGN. Throws if the argument is no text. */
function pgnText(call: string, pgn: unknown): string {
  if (typeof pgn !== "string") throw usage(`${call}: expected a PGN as text, found ${typeof pgn}`);
  return pgn;
}

/**
 * Loads the WASM module of the analysis once.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function openAnalysis(options?: AnalysisOptions): Promise<Analysis> {
  return enter(async () => {
    const { wasm, signal } = checked("openAnalysis", options, { wasm: "other", signal: "signal" });
    await unlessAborted(ready(MODULE, wasm), signal, "loading");
    return analysis;
  });
}
