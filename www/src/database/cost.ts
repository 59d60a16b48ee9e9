/** What an answer cost: the difference of two readings of the database's counters, and how long it took here. */

import { duration, plural, size } from "../text/units";

/** The counters that are read. */
export interface Counters {
  requests: number;
  bytes: number;
  memoryHits: number;
  indexedDBHits: number;
  networkBlocks: number;
}

/** Counters of one lookup, with the time that the page waited for it. */
export interface Cost extends Counters {
  milliseconds: number;
}

/** What was spent between two readings. */
export function spent(before: Counters, after: Counters, milliseconds: number): Cost {
  return {
    requests: after.requests - before.requests,
    bytes: after.bytes - before.bytes,
    memoryHits: after.memoryHits - before.memoryHits,
    indexedDBHits: after.indexedDBHits - before.indexedDBHits,
    networkBlocks: after.networkBlocks - before.networkBlocks,
    milliseconds,
  };
}

/** Where the answer came from, dearest source first. */
export function origin(cost: Cost): string {
  const sources = [];
  if (cost.requests > 0 || cost.networkBlocks > 0) sources.push("the network");
  if (cost.indexedDBHits > 0) sources.push("IndexedDB");
  if (cost.memoryHits > 0 || sources.length === 0) sources.push("memory");
  return `from ${sources.join(" and ")}`;
}

/** "1 request · 11.2 kB · 43 ms · from the network" */
export function summary(cost: Cost): string {
  return [plural(cost.requests, "request"), size(cost.bytes), duration(cost.milliseconds), origin(cost)].join(" · ");
}
