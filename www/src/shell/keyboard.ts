/** Keys that work anywhere on the page, except where somebody types. */
import { byId, isField } from "./dom";

/** Binds keys, named as in `KeyboardEvent.key`, letters and arrows with "Shift+" before them where it is held, to actions. */
export function bindKeys(actions: Record<string, () => void>): void {
  const promotion = byId("promotion");
  const dialogs = document.getElementsByTagName("dialog");
  // Dialogs and the choice of a promotion have keys of their own.
  const isTaken = () => !promotion.hidden || [...dialogs].some(({ open }) => open);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken()) return;
    const { target, key } = event;
    if (isField(target)) return;
    // A list of choices keeps its own keys; left and right mean nothing to it.
    if (target instanceof HTMLSelectElement && key !== "ArrowLeft" && key !== "ArrowRight") return;
    // Space and Enter press the focused button.
    if ((key === " " || key === "Enter") && target instanceof HTMLElement && target.matches("button, a, summary")) return;
    const shifted = event.shiftKey && /^([a-z]|Arrow\w+)$/i.test(key) ? "Shift+" : "";
    const action = actions[shifted + (key.length === 1 ? key.toLowerCase() : key)];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
