/** The moves that led to the position on the board. */
import { moveNumber, path } from "../game/game";
import { byId, make, redraw } from "../shell/dom";
import type { State } from "../state/state";

/** Draws the moves as buttons that go back. */
export function drawPath(state: State): void {
  const nodes = path(state.node).slice(1);
  // A disabled button would lose the focus after it was pressed.
  const start = make("button", { type: "button", "aria-disabled": nodes.length === 0 }, "Start");
  start.addEventListener("click", () => state.go(state.game.root));
  const moves = nodes.flatMap((node, at) => {
    const before = node.parent?.position;
    const number = before && (at === 0 || before.turn === "white") ? `${moveNumber(before)} ` : "";
    const button = make("button", { type: "button", "aria-current": node === state.node ? "true" : undefined }, number + node.san);
    button.addEventListener("click", () => state.go(node));
    return [" ", button];
  });
  redraw(byId("line"), start, ...moves);
}
