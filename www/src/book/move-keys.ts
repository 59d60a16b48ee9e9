/** Keys for a list of book moves: arrows move the focus, digits play a move. */
import { byId } from "../shell/dom";

const buttons = (): HTMLButtonElement[] => [...byId("moves").querySelectorAll("button")];

/** Moves the focus to the next (1) or previous (-1) move; without a focus, to the first or last move. */
export function focusMove(by: 1 | -1): void {
  const all = buttons();
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]?.focus();
}

export const moveKeys: Record<string, () => void> = {
  ArrowUp: () => focusMove(-1),
  ArrowDown: () => focusMove(1),
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [String(at + 1), () => buttons()[at]?.click()])),
};
