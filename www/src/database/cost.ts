/** Cost of an answer: the difference of the database's counters before and after it, and the time. */

import { duration, plural, size } from "../text/units";

export interface Counters {
  requests: number;
  bytes: number;
  memoryHits: number;
  indexedDBHits: number;
  networkBlocks: number;
}

/** Counters of one lookup, with the time until the page got the answer. */
export interface Cost extends Counters {
  milliseconds: number;
}

/** Runs a lookup. Returns its result and its cost. */
export async function metered<T>(
  reader: { stats(): Counters },
  work: () => Promise<T>,
): Promise<[result: T, cost: Cost]> {
  const [before, start] = [reader.stats(), performance.now()];
  const result = await work();
  return [result, spent(before, reader.stats(), performance.now() - start)];
}

/** Returns the difference of the counters before and after a lookup. */
export function spent(
  before: Counters,
  after: Counters,
  milliseconds: number,
): Cost {
  return {
    requests: after.requests - before.requests,
    bytes: after.bytes - before.bytes,
    memoryHits: after.memoryHits - before.memoryHits,
    indexedDBHits: after.indexedDBHits - before.indexedDBHits,
    networkBlocks: after.networkBlocks - before.networkBlocks,
    milliseconds,
  };
}

/** Names the sources of an answer, the slowest first. */
function origin(cost: Cost): string {
  const sources = [];
  if (cost.requests > 0 || cost.networkBlocks > 0) sources.push("the network");
  if (cost.indexedDBHits > 0) sources.push("IndexedDB");
  if (cost.memoryHits > 0 || sources.length === 0) sources.push("memory");
  return `from ${sources.join(" and ")}`;
}

/** Formats a cost: "1 request · 11.2 kB · 43 ms · from the network". */
export function summary(cost: Cost): string {
  return [
    plural(cost.requests, "request"),
    size(cost.bytes),
    duration(cost.milliseconds),
    origin(cost),
  ].join(" · ");
}
