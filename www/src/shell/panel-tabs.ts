/** The panels next to the game: small screens show only the selected panel. */
import { byId } from "./dom";

/** Binds the buttons that select the panel. */
export function bindPanelTabs(): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("#more [data-shows]")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const each of buttons) {
        each.setAttribute("aria-pressed", String(each === button));
        byId(each.dataset.shows ?? "").classList.toggle("shown", each === button);
      }
    });
  }
}
