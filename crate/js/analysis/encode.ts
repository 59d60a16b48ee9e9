// Evaluations as numbers and text, for the module.

import { isError } from "../shared/errors.js";
import { joinMoves, usage } from "../shared/options.js";
import type { Pv } from "../shared/types.js";
import type { KnownEval } from "./types.js";

/**
 * Numbers of an evaluation: centipawns, moves to mate, depth, thousands of nodes, the index of the origin, and centipawns and moves to
 * mate of the second line.
 */
const NUMBERS = 7;

const ORIGINS: string[] = ["database", "pgn", "engine", "uci", "endgames"];

/** Encodes evaluations for the module: the numbers of each evaluation, and the lines as text. */
export function encode(
  evaluations: unknown,
): [numbers: Float64Array, lines: string] {
  if (!Array.isArray(evaluations))
    throw usage(`evaluations: expected a list, found ${typeof evaluations}`);
  const numbers = new Float64Array(NUMBERS * evaluations.length).fill(NaN);
  const lines = evaluations.map((entry: unknown, n) => {
    if (entry === null || entry === undefined || isError(entry)) return "";
    const { depth, knodes, pvs, from, isUnscaled } = entry as KnownEval;
    const [{ cp, mate, uci: line } = {}, second] = (pvs ?? []) as Partial<Pv>[];
    const score = cp ?? mate;
    if (
      (cp ?? mate) !== (mate ?? cp) ||
      !Number.isInteger(score) ||
      Math.abs(score!) > 0x7fffffff
    ) {
      throw usage(
        `evaluations[${n}].pvs[0]: expected a whole number as either cp or mate`,
      );
    }
    if (depth !== undefined && !(depth >= 0))
      throw usage(
        `evaluations[${n}].depth: expected plies, found ${String(depth)}`,
      );
    if (knodes !== undefined && !(knodes >= 0))
      throw usage(
        `evaluations[${n}].knodes: expected thousands of nodes, found ${String(knodes)}`,
      );
    const found = ORIGINS.indexOf(
      from === "stockfish" ? "uci" : (from ?? "database"),
    );
    // A result of the engine itself has `deepest`. Its score is not on the scale of Stockfish.
    const isRaw = isUnscaled ?? "deepest" in (entry as object);
    const origin = isRaw && from === "engine" ? ORIGINS.length : found;
    if (origin < 0)
      throw usage(
        `evaluations[${n}].from: expected ${ORIGINS.join(", ")}, found ${String(from)}`,
      );
    numbers.set(
      [
        cp ?? NaN,
        cp === undefined || cp === null ? score! : NaN,
        depth ?? NaN,
        knodes ?? NaN,
        origin,
        second?.cp ?? NaN,
        second?.mate ?? NaN,
      ],
      NUMBERS * n,
    );
    return line ? joinMoves(`evaluations[${n}].pvs[0].uci`, line) : "";
  });
  return [numbers, lines.join("\n")];
}
