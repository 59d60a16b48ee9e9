// The expected answers of the databases, read from the dumps without code of this repository.
import { decompress } from "fzstd";
import { readFileSync } from "node:fs";

/**
 * @typedef {{ cp?: number, mate?: number, line: string }} Pv
 * @typedef {{ depth: number, knodes: number, pvs: Pv[] }} Evaluation
 */

/**
 * Reads and merges the evaluations of every position of some dumps.
 * @param {string[]} dumps
 * @returns {Map<string, Evaluation[]>}
 */
export function truth(...dumps) {
  const positions = new Map();
  for (const dump of dumps) {
    const text = Buffer.from(decompress(readFileSync(dump))).toString();
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const { fen, evals } = JSON.parse(line);
      positions.set(fen, distinct([...(positions.get(fen) ?? []), ...evals]));
    }
  }
  return positions;
}

/** @param {Evaluation[]} evaluations */
function distinct(evaluations) {
  return [
    ...new Map(
      evaluations.map((evaluation) => [plain(evaluation), evaluation]),
    ).values(),
  ];
}

/**
 * Returns the deepest evaluation; if several are equally deep, the evaluation with more lines, then with more nodes.
 * @param {Evaluation[]} evaluations
 */
export function best(evaluations) {
  const order = (/** @type {Evaluation} */ a, /** @type {Evaluation} */ b) =>
    b.depth - a.depth || b.pvs.length - a.pvs.length || b.knodes - a.knodes;
  return [...evaluations].sort(order)[0];
}

/**
 * Formats an evaluation of a dump, or of an answer with castling as in Chess960. Equal evaluations give equal texts.
 * @param {{ depth: number, knodes: number, pvs: { cp?: number, mate?: number, line?: string, uci?: string[] }[] }} evaluation
 */
export function plain({ depth, knodes, pvs }) {
  const lines = pvs.map(
    ({ cp, mate, line, uci }) =>
      `${cp ?? ""} #${mate ?? ""} ${line ?? uci?.join(" ")}`,
  );
  return [depth, knodes, ...lines].join("; ");
}

/** Formats a score as the pages and the elements do. Empty without a score. */
export function scoreOf(
  /** @type {{ cp?: number, mate?: number } | undefined} */ pv,
  minus = "−",
) {
  if (!pv) return "";
  const { cp = 0, mate } = pv;
  const text =
    mate === undefined
      ? `${cp > 0 ? "+" : ""}${(cp / 100).toFixed(2)}`
      : `#${mate}`;
  return text.replace("-", minus);
}
