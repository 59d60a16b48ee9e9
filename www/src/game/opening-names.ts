/** Names of openings by position: transpositions have the same name. The names are loaded when they are first needed. */
import type { Opening } from "shelfish/openings.js";
import type { Node } from "./game";
import { loadOnce } from "../loading/load-once";

let list: typeof import("shelfish/openings.js") | undefined;

/** Loads the names, about 35 kB. `openingName` finds nothing before. */
export const loadOpenings = loadOnce(async () => {
  list = await import("shelfish/openings.js");
});

/** Returns the name of a position, by the first four fields of its FEN. */
export const openingOf = (fen: string): Opening | undefined =>
  list?.openingOf(fen);

/** Returns the name of the last position with a name; `nodes` go from the root to the position on the board. */
export function openingName(nodes: readonly Node[]): Opening | undefined {
  for (const node of nodes
    .slice(0, (list?.openingPlies() ?? 0) + 1)
    .reverse()) {
    const opening = openingAt(node);
    if (opening) return opening;
  }
  return undefined;
}

const found = new WeakMap<Node, Opening | null>();

function openingAt(node: Node): Opening | undefined {
  if (!list) return undefined;
  let opening = found.get(node);
  if (opening === undefined) {
    opening = openingOf(node.fen) ?? null;
    found.set(node, opening);
  }
  return opening ?? undefined;
}
