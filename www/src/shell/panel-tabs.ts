/** The panels next to the game: the buttons select a panel. Large desktops show the report above the selected panel. */
import { byId } from "./dom";

/** Screens that show the report and another panel, as in layout.css. */
const LARGE =
  "(min-width: 1340px) and (min-height: 900px) and (min-aspect-ratio: 3/2)";

/** Binds the buttons, and shows the panel with the id `first`. `change` is called with the panel that the user selects. Returns the function that selects a panel. */
export function bindPanelTabs(
  first: string,
  change: (id: string) => void,
): (id: string) => void {
  const buttons = [
    ...document.querySelectorAll<HTMLButtonElement>("#more [data-shows]"),
  ];
  const large = matchMedia(LARGE);
  let selected = first;
  const show = () => {
    // The report is visible already.
    const shown =
      large.matches && selected === "report" ? "continuations" : selected;
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
    selected = id;
    show();
    change(id);
  };
  for (const button of buttons)
    button.addEventListener("click", () => select(button.dataset.shows ?? ""));
  large.addEventListener("change", show);
  show();
  return select;
}
