/** Keyboard shortcuts, which work everywhere except in text fields. */
import { byId, isField } from "./dom";

/**
 * Binds keys to actions. Keys are named as in `KeyboardEvent.key`; letters and arrows get the prefix "Shift+" if Shift is pressed, and all keys the
 * prefix "Ctrl+" if Control or Command is pressed.
 */
export function bindKeys(actions: Record<string, () => void>): void {
  const promotion = byId("promotion");
  const dialogs = document.getElementsByTagName("dialog");
  // Dialogs and the choice of a promotion handle their own keys.
  const isTaken = () =>
    !promotion.hidden || [...dialogs].some(({ open }) => open);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || isTaken()) return;
    const { target, key } = event;
    if (isField(target)) return;
    // A select element handles its own keys, but does not need left and right.
    if (
      target instanceof HTMLSelectElement &&
      key !== "ArrowLeft" &&
      key !== "ArrowRight"
    )
      return;
    // Space and Enter press the focused button.
    if (
      (key === " " || key === "Enter") &&
      target instanceof HTMLElement &&
      target.matches("button, a, summary")
    )
      return;
    const shifted =
      event.shiftKey && /^([a-z]|Arrow\w+)$/i.test(key) ? "Shift+" : "";
    const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
    const action =
      actions[held + shifted + (key.length === 1 ? key.toLowerCase() : key)];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Returns the visible moves of a list. */
const buttons = (list: string): HTMLButtonElement[] =>
  [...byId(list).querySelectorAll("button")].filter(
    (button) => button.getClientRects().length > 0,
  );

/** Moves the focus to the next (1) or previous (-1) move of the list with this id; without a focus, to the first or last move. */
export function focusMove(list: string, by: 1 | -1): void {
  const all = buttons(list);
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  all[
    at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length
  ]?.focus();
}

/** Returns the keys that play a move of the list: its number. */
export const digitKeys = (list: string): Record<string, () => void> =>
  Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [
      String(at + 1),
      () => buttons(list)[at]?.click(),
    ]),
  );

export const moveKeys = (list: string): Record<string, () => void> => ({
  ArrowUp: () => focusMove(list, -1),
  ArrowDown: () => focusMove(list, 1),
  ...digitKeys(list),
});
