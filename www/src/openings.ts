/** Names of openings, by position: however it was reached, a position has one name. Loaded when first asked for. */
import type { Node } from "./game";
import { once } from "./once";
import { KEY_LENGTH, keyOf, keyOfFen } from "./openings-key";

/** An opening of the Encyclopaedia of Chess Openings. */
export interface Opening {
  /** "B90" */
  eco: string;
  /** "Sicilian Defense: Najdorf Variation" */
  name: string;
}

let table: { plies: number; byKey: Map<string, Opening> } | undefined;

/** Loads the names, some 55 kB; `openingName` knows nothing before. */
export const loadOpenings = once(async () => {
  const { plies, names, keys } = await import("virtual:openings");
  const entries = names.split("\n").map((line, index): [string, Opening] => [
    keys.slice(index * KEY_LENGTH, (index + 1) * KEY_LENGTH),
    { eco: line.slice(0, 3), name: line.slice(3) },
  ]);
  table = { plies, byKey: new Map(entries) };
});

/** The name of a position, by its first four fields of FEN as the package writes them. */
export const openingOf = (fen: string): Opening | undefined => table?.byKey.get(keyOfFen(fen));

/** The name of the last position of a line that has one; `nodes` go from the root to the position on the board. */
export function openingName(nodes: readonly Node[]): Opening | undefined {
  for (const node of nodes.slice(0, (table?.plies ?? 0) + 1).reverse()) {
    const opening = openingAt(node);
    if (opening) return opening;
  }
  return undefined;
}

const found = new WeakMap<Node, Opening | null>();

function openingAt(node: Node): Opening | undefined {
  if (!table) return undefined;
  let opening = found.get(node);
  if (opening === undefined) {
    opening = table.byKey.get(keyOf(node.position)) ?? null;
    found.set(node, opening);
  }
  return opening ?? undefined;
}
