/** The list of moves that can be played. */
import { byId, make } from "../shell/dom";
import { type Step, uci } from "../game/game";
import type { Choice } from "./rules";

/** Effects of the list on the page. */
export interface Actions {
  play(step: Step): void;
  /** Shows the position after a move; without an element, hides it. */
  show(near?: Element, step?: Step): void;
}

/** Draws the moves of a position with their shares of all games. */
export function draw(all: readonly Choice[], actions: Actions): void {
  const sum = all.reduce((sum, { games }) => sum + games, 0);
  const hadFocus = byId("moves").contains(document.activeElement);
  const rows = all.map(({ step, games }) => {
    const button = make("button", { type: "button", "data-testid": "choice", "data-uci": uci(step.move) }, make("span", { className: "san" }, step.san));
    if (games > 0) {
      const share = (100 * games) / sum;
      const bar = make("span", { className: "bar", "aria-hidden": "true" });
      bar.style.width = `${share}%`;
      button.append(
        make("span", { className: "games" }, games.toLocaleString("en")),
        make("span", { className: "share" }, `${share < 1 ? Math.max(0.1, share).toFixed(1) : Math.round(share)} %`),
        bar,
      );
    }
    button.addEventListener("click", () => actions.play(step));
    button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && actions.show(button, step));
    button.addEventListener("pointerleave", () => actions.show());
    button.addEventListener("focus", () => button.matches(":focus-visible") && actions.show(button, step));
    button.addEventListener("blur", () => actions.show());
    return make("li", {}, button);
  });
  byId("moves").replaceChildren(...rows);
  byId("moves").classList.toggle("fresh", sum === 0);
  // The focus moves to the new list.
  if (hadFocus) buttons()[0]?.focus();
}

const buttons = (): HTMLButtonElement[] => [...byId("moves").querySelectorAll("button")];

/** Moves the focus among the moves. */
export function choose(by: 1 | -1): void {
  const all = buttons();
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]?.focus();
}

/** Plays the move with this number, counted from 1. */
export function press(at: number): void {
  buttons()[at - 1]?.click();
}
