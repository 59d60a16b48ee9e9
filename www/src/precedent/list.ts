/** The list of moves that can be played. */
import { focusMove } from "../book/move-keys";
import { percent } from "../book/results";
import { bindMove, type MoveActions } from "../board/preview";
import { byId, make } from "../shell/dom";
import { uci } from "../game/game";
import type { Choice } from "./rules";

/** Draws the moves of a position with their shares of all games. */
export function draw(all: readonly Choice[], actions: MoveActions): void {
  const sum = all.reduce((sum, { games }) => sum + games, 0);
  const hadFocus = byId("moves").contains(document.activeElement);
  const rows = all.map(({ step, games }) => {
    const button = make(
      "button",
      { type: "button", "data-testid": "choice", "data-uci": uci(step.move) },
      make("span", { className: "san" }, step.san),
    );
    if (games > 0) {
      const bar = make("span", { className: "bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * games) / sum}%`;
      button.append(
        make("span", { className: "games" }, games.toLocaleString("en")),
        make("span", { className: "share" }, percent(games, sum)),
        bar,
      );
    }
    bindMove(button, button, step, actions);
    return make("li", {}, button);
  });
  byId("moves").replaceChildren(...rows);
  byId("moves").classList.toggle("fresh", sum === 0);
  // The focus moves to the new list.
  if (hadFocus) focusMove("moves", 1);
}
