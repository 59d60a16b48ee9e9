// What the databases must answer, read from the dumps without any code of ours.
import { decompress } from "fzstd";
import { readFileSync } from "node:fs";

/**
 * @typedef {{ cp?: number, mate?: number, line: string }} Pv
 * @typedef {{ depth: number, knodes: number, pvs: Pv[] }} Evaluation
 */

/**
 * The evaluations of every position of some dumps, merged.
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
  return [...new Map(evaluations.map((evaluation) => [plain(evaluation), evaluation])).values()];
}

/**
 * The deepest evaluation, then the one with more lines, then the one with more nodes.
 * @param {Evaluation[]} evaluations
 */
export function best(evaluations) {
  const order = (/** @type {Evaluation} */ a, /** @type {Evaluation} */ b) =>
    b.depth - a.depth || b.pvs.length - a.pvs.length || b.knodes - a.knodes;
  return [...evaluations].sort(order)[0];
}

/**
 * One text for an evaluation of a dump and for the same evaluation of an answer in Chess960 castling.
 * @param {{ depth: number, knodes: number, pvs: { cp?: number, mate?: number, line?: string, uci?: string[] }[] }} evaluation
 */
export function plain({ depth, knodes, pvs }) {
  const lines = pvs.map(({ cp, mate, line, uci }) => `${cp ?? ""} #${mate ?? ""} ${line ?? uci?.join(" ")}`);
  return [depth, knodes, ...lines].join("; ");
}
