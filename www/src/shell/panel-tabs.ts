/** The panels next to the game: the buttons select a panel. */
import { byId } from "./dom";

/** Binds the buttons, and shows the panel with the id `first`. `change` is called with the panel that the user selects. Returns the function that selects a panel. */
export function bindPanelTabs(
  first: string,
  change: (id: string) => void,
): (id: string) => void {
  const buttons = [
    ...document.querySelectorAll<HTMLButtonElement>("#more [data-shows]"),
  ];
  const show = (shown: string) => {
    for (const button of buttons) {
      button.setAttribute(
        "aria-pressed",
        String(button.dataset.shows === shown),
      );
      byId(button.dataset.shows ?? "").classList.toggle(
        "shown",
        button.dataset.shows === shown,
      );
    }
  };
  const select = (id: string) => {
    show(id);
    change(id);
  };
  for (const button of buttons)
    button.addEventListener("click", () => select(button.dataset.shows ?? ""));
  show(first);
  return select;
}
