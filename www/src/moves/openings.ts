/** The names of openings by position, and the line to the position on the board. */
import type { Opening } from "shelfish/openings.js";
import { type Node, moveText, path } from "../game/game";
import { loadOnce } from "../loading/loading";
import { byId, makeButton, redraw } from "../shell/dom";
import type { State } from "../state/state";

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

/** Shows the name if the names are loaded. */
export function showOpening(state: State): void {
  const opening = openingName(path(state.node));
  const unnamed = state.node.parent ? "" : "Start of the game";
  byId("opening").textContent = opening
    ? `${opening.eco} ${opening.name}`
    : unnamed;
}

/** Binds the label. The names are loaded after the first evaluation. */
export function nameOpenings(state: State): void {
  const show = () => showOpening(state);
  let isAsked = false;
  state.on(({ node, known }) => {
    if (node) show();
    if (!known || isAsked) return;
    isAsked = true;
    // The board works without opening names.
    loadOpenings().then(show, () => {});
  });
}

/** Draws the moves as buttons that go back. */
export function drawPath(state: State): void {
  const nodes = path(state.node).slice(1);
  // A disabled button would lose the focus after it was pressed.
  const start = makeButton(
    { "aria-disabled": nodes.length === 0 },
    () => state.go(state.game.root),
    "Start",
  );
  const moves = nodes.flatMap((node, at) => [
    " ",
    makeButton(
      { "aria-current": node === state.node ? "true" : undefined },
      () => state.go(node),
      moveText(node, at === 0),
    ),
  ]);
  redraw(byId("line"), start, ...moves);
}
