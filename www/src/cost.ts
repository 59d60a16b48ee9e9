/** What an answer cost: the difference of two readings of the database's counters, and how long it took here. */

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

/** Bytes in steps of 1000, as browsers' own tools count. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  // What would be rounded to a thousand is one of the next.
  if (bytes < 999_500) return `${decimals(bytes / 1000)} kB`;
  return bytes < 999_500_000 ? `${decimals(bytes / 1e6)} MB` : `${decimals(bytes / 1e9)} GB`;
}

/** Milliseconds, with a decimal where it says something. */
export function duration(milliseconds: number): string {
  if (milliseconds < 0.1) return "under 0.1 ms";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** "1 request", "2 requests", "1,574 positions" */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const decimals = (value: number): string => (value < 99.95 ? value.toFixed(1) : Math.round(value).toString());
