/** Lines of an evaluation as buttons. A hover shows the move on the board, a click plays the line up to it. */
import type { Position } from "chessops/chess";
import { bindPreview, bindPreviewEnd } from "../board/board";
import { make } from "../shell/dom";
import { moveNumber, type Step } from "../game/game";

export interface LineActions {
  /** Shows a step on the board; without a step, shows the position of the board again. */
  preview(step?: Step, before?: Position): void;
  /** Plays these steps from the line's first position. */
  play(line: readonly Step[]): void;
}

/** Returns a line with its score. */
export function lineItem(
  score: string,
  start: Position,
  line: readonly Step[],
  actions: LineActions,
): HTMLElement {
  const className = /^#?-/.test(score) ? "pv-score black" : "pv-score";
  return make(
    "li",
    { "data-testid": "line" },
    make("span", { className }, score),
    lineMoves(start, line, actions),
  );
}

/** Returns the moves of a line. The Tab key stops at the line once; arrow keys move inside it. */
export function lineMoves(
  start: Position,
  line: readonly Step[],
  actions: LineActions,
): HTMLElement {
  const words = make("span", {
    className: "line",
    role: "toolbar",
    "aria-label": "Moves of the line",
  });
  const before = (index: number) => line[index - 1]?.position ?? start;
  const buttons = line.map((step, index) => {
    const button = make(
      "button",
      {
        tabIndex: index === 0 ? 0 : -1,
        "aria-label": `${step.number} ${step.san}`,
        "data-testid": "line-move",
      },
      step.san,
    );
    bindPreview(button, button, () => actions.preview(step, before(index)));
    button.addEventListener("click", () =>
      actions.play(line.slice(0, index + 1)),
    );
    return button;
  });
  buttons.forEach((button, index) => {
    const number =
      index === 0 || before(index).turn === "white"
        ? [make("span", "number", moveNumber(before(index)))]
        : [];
    words.append(make("span", "ply", ...number, button), " ");
  });
  bindPreviewEnd(words, () => actions.preview());
  // The next reader sees the first move.
  words.addEventListener(
    "focusout",
    ({ relatedTarget }) =>
      words.contains(relatedTarget as Element | null) || (words.scrollLeft = 0),
  );
  words.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: buttons.length - 1,
    }[event.key];
    if (to === undefined || at === -1) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(to, buttons.length - 1))]?.focus();
  });
  words.addEventListener("focusin", ({ target }) => {
    for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
  });
  return words;
}
