// What the benchmarks share: options, a slow server, figures and tables.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { serve } from "./serve.mjs";

const { values, positionals } = parseArgs({
  options: {
    db: { type: "string", default: "" },
    evals: { type: "string", default: "" },
    games: { type: "string", default: "" },
    files: { type: "string", default: "" },
    command: { type: "string", default: "" },
    count: { type: "string", default: "15" },
    latency: { type: "string", default: "50" },
    mbit: { type: "string", default: "20" },
  },
  allowPositionals: true,
});
export const [db, evals, games, files] = [
  values.db,
  values.evals,
  values.games,
  values.files,
].map((path) => resolve(path));
export const { command, latency, mbit } = values;
export const dumps = positionals;
/** The number of visits, positions or games. */
export const count = Number(values.count);
export const network = `${latency} ms a request, ${mbit} Mbit/s`;

/** Starts a server that emulates the network. */
export const slow = (/** @type {string} */ folder) =>
  serve(folder, "--latency-ms", latency, "--bandwidth-mbit", mbit);

/**
 * Copies folders into a new folder, which is removed at the end of the process.
 * @param {Record<string, string>} parts source by its place in the folder
 */
export function copied(parts) {
  const root = mkdtempSync(join(tmpdir(), "shelfish-bench-"));
  process.on("exit", () => rmSync(root, { recursive: true }));
  for (const [place, source] of Object.entries(parts))
    cpSync(source, join(root, place), { recursive: true, dereference: true });
  return root;
}

/**
 * A quantile by the definition of `percentile` in build-tools/shelfish/src/summary.rs; `share` is from 0 to 1.
 * @param {number[]} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [
    sorted[Math.floor(place)],
    sorted[Math.ceil(place)],
  ];
  return below + (above - below) * (place % 1);
}

export const sum = (/** @type {number[]} */ values) =>
  values.reduce((a, b) => a + b, 0);

export const mean = (/** @type {number[]} */ values) =>
  sum(values) / values.length;

/** Formats the mean, the median, the 95 % quantile and the maximum. */
export const spread = (
  /** @type {number[]} */ values,
  /** @type {number} */ digits,
) =>
  [mean(values), ...[0.5, 0.95, 1].map((share) => quantile(values, share))].map(
    (value) => value.toFixed(digits),
  );

/**
 * Formats a table in Markdown.
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
export const table = (head, rows) =>
  [head, head.map((_, n) => (n ? "---:" : "---")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
