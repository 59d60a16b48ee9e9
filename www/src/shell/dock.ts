/** What stands beside the game: one part of several where room is short, all of them where it is not. */
import { byId } from "./dom";

/** Binds the buttons that choose the part. */
export function bindDock(): void {
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
