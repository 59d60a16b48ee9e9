/** Keys for a list of book moves: arrows move the focus, digits play a move. */
import { byId } from "../shell/dom";

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
