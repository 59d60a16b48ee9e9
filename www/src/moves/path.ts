/** The moves that led to the position on the board. */
import { moveText, path } from "../game/game";
import { byId, makeButton, redraw } from "../shell/dom";
import type { State } from "../state/state";

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
