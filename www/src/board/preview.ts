/** Moves that the board shows while the mouse or the focus of the keyboard is on their name. */

import type { Step } from "../game/game";

/** Keys that move the focus. Other keys act on the focused button. */
const FOCUS_KEYS = /^(Arrow|Tab$|Home$|End$)/;

/**
 * Calls `show` when the mouse moves over `target`, and when a key moves the focus to `button`. A name that appears under a resting pointer is not
 * shown: after a click the board keeps the new position. Touches show nothing.
 */
export function bindPreview(
  target: HTMLElement,
  button: HTMLElement,
  show: () => void,
): void {
  let isShown = false;
  target.addEventListener("pointermove", ({ pointerType }) => {
    if (pointerType !== "mouse" || isShown) return;
    isShown = true;
    show();
  });
  target.addEventListener("pointerleave", () => (isShown = false));
  button.addEventListener("keyup", ({ key }) => FOCUS_KEYS.test(key) && show());
}

/** Actions of the buttons of moves. */
export interface MoveActions {
  play(step: Step): void;
  /** Shows a move on the board. */
  show(step: Step): void;
}

/** Plays a move at a click on `target`, and shows the move like `bindPreview`. */
export function bindMove(
  target: HTMLElement,
  button: HTMLElement,
  step: Step,
  { play, show }: MoveActions,
): void {
  target.addEventListener("click", () => play(step));
  bindPreview(target, button, () => show(step));
}

/** Calls `hide` when the mouse or the focus leaves `root`. */
export function bindPreviewEnd(root: HTMLElement, hide: () => void): void {
  root.addEventListener("pointerleave", hide);
  root.addEventListener(
    "focusout",
    ({ relatedTarget }) =>
      root.contains(relatedTarget as Element | null) || hide(),
  );
}
