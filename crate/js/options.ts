// Checks of options that several entries have.

import { ShelfishError } from "./errors.js";

/** A limit of a search. Returns `undefined` if it is left out, and throws if it is 0 or no whole number. */
export function limit(name: string, value: unknown, most: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most) return value as number;
  throw new ShelfishError({
    code: "usage",
    message: `${name}: expected a whole number from 1 to ${most}, found ${String(value).slice(0, 20)}`,
  });
}

/** Limits of a search; at least one is needed to end it. */
export interface Limits {
  depth?: number | undefined;
  nodes?: number | undefined;
  movetime?: number | undefined;
}

/** Returns the limits, checked; or that of a default depth if there is none. */
export function limits({ depth, nodes, movetime }: Limits, defaultDepth?: number): Limits {
  const checked = {
    depth: limit("depth", depth, 127),
    nodes: limit("nodes", nodes, 2 ** 53 - 1),
    movetime: limit("movetime", movetime, 2 ** 31 - 1),
  };
  return checked.depth ?? checked.nodes ?? checked.movetime ? checked : { ...checked, depth: defaultDepth };
}
