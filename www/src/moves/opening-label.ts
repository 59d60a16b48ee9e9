/** The line to the position on the board: the name of its opening, and its moves. */
import { byId, makeButton, redraw } from "../shell/dom";
import { moveText, path } from "../game/game";
import { loadOpenings, openingName } from "../game/opening-names";
import type { State } from "../state/state";

/** Shows the name if the names are loaded. */
export function showOpening(state: State): void {
  const opening = openingName(path(state.node));
  byId("opening").textContent = opening ? `${opening.eco} ${opening.name}` : "";
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
