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
