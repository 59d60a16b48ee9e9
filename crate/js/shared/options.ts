// Checks of options that several entries have.

import { ShelfishError } from "./errors.js";

/** Limits of a search. */
export interface Limits {
  depth?: number | undefined;
  nodes?: number | undefined;
  movetime?: number | undefined;
}

/** Returns a limit, or `undefined` if it is omitted. Throws if it is too small, too large or no whole number. */
export function limit(name: string, value: unknown, maximum: number, minimum = 1): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum) return value as number;
  const found = String(value).slice(0, 20);
  throw new ShelfishError({ code: "usage", message: `${name}: expected a whole number from ${minimum} to ${maximum}, found ${found}` });
}

/** Returns the checked limits of a search. If all are omitted, the depth is `defaultDepth`. */
export function limits({ depth, nodes, movetime }: Limits, defaultDepth?: number): Limits {
  const checked = {
    depth: limit("depth", depth, 127),
    nodes: limit("nodes", nodes, 2 ** 53 - 1),
    movetime: limit("movetime", movetime, 2 ** 31 - 1),
  };
  return (checked.depth ?? checked.nodes ?? checked.movetime) ? checked : { ...checked, depth: defaultDepth };
}

/** Returns the elements of a list of FENs as strings. Throws if the argument is no list. */
export function fenList(method: string, fens: Iterable<string>): string[] {
  if (typeof fens === "string" || typeof fens?.[Symbol.iterator] !== "function") {
    throw new ShelfishError({ code: "usage", message: `${method}: expected a list of FENs, found ${typeof fens}` });
  }
  return Array.from(fens, String);
}

/** Joins a list of moves in UCI with spaces. Throws if the argument is no such list. */
export function joinMoves(name: string, moves: unknown): string {
  const usage = (message: string) => new ShelfishError({ code: "usage", message });
  if (!Array.isArray(moves)) throw usage(`${name}: expected a list of moves in UCI, found ${typeof moves}`);
  const n = moves.findIndex((move) => typeof move !== "string" || !/^\S+$/.test(move));
  if (n >= 0) throw usage(`${name}[${n}]: expected a move in UCI, found ${String(moves[n]).slice(0, 20)}`);
  return moves.join(" ");
}
