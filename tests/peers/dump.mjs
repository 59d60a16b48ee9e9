// Reads evaluation dumps without code of this repository.
import { split } from "../browser/support/games.mjs";

/** @typedef {[depth: number, knodes: number, pvs: [score: number | string, line: string][]]} Compact */

/**
 * Returns an evaluation in few bytes of JSON: depth, thousands of nodes, and a score and a line for each PV.
 * @returns {Compact}
 */
export function compact({ depth, knodes, pvs }) {
  return [
    depth,
    knodes,
    pvs.map(({ cp, mate, line, uci }) => [
      cp ?? `#${mate}`,
      line ?? uci.join(" "),
    ]),
  ];
}

/**
 * Returns every position of some dumps with its evaluations, in the order of the dumps.
 * @param {string[]} paths
 * @returns {AsyncGenerator<{ fen: string, evals: Compact[] }>}
 */
export async function* records(paths) {
  for (const path of paths) {
    for await (const line of split(path, "\n")) {
      if (line === "") continue;
      const { fen, evals } = JSON.parse(line);
      yield { fen, evals: evals.map(compact) };
    }
  }
}

/**
 * Returns runs of consecutive positions in a dump, as in a game.
 * @param {string[]} paths
 * @param {number} count
 * @param {number} length
 * @param {number} step from one run to the next
 */
export async function runs(paths, count, length, step) {
  /** @type {string[][]} */
  const runs = [];
  let number = 0;
  for await (const { fen } of records(paths)) {
    const at = number++ % step;
    if (at === 0 && runs.length === count) break;
    if (at === 0) runs.push([]);
    if (at < length) runs.at(-1)?.push(fen);
  }
  return runs.map((fens) => [...new Set(fens)]);
}

/**
 * Returns the evaluations of two records of one position, without duplicates.
 * @param {Compact[]} evals
 */
export function distinct(evals) {
  if (evals.length === 1) return evals;
  return [
    ...new Map(
      evals.map((evaluation) => [JSON.stringify(evaluation), evaluation]),
    ).values(),
  ];
}

/**
 * Returns the original evaluation of the dump.
 * @param {Compact} evaluation
 */
export function full([depth, knodes, pvs]) {
  const scored = pvs.map(([score, line]) =>
    typeof score === "number"
      ? { cp: score, line }
      : { mate: Number(score.slice(1)), line },
  );
  return { pvs: scored, knodes, depth };
}
