/** The light and the dark theme. The system's preference applies until the user presses the button. */
import { writeString } from "../storage/local-storage";
import { byId } from "./dom";

const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = (): boolean =>
  (document.documentElement.dataset.theme ??
    (system.matches ? "dark" : "light")) === "dark";

export function bindTheme(): void {
  const button = byId("theme");
  const label = () => {
    const text = isDark() ? "Light theme" : "Dark theme";
    button.title = text;
    button.querySelector("span")?.replaceChildren(text);
  };
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    // If storage is forbidden, the choice ends with the page.
    writeString("theme", theme);
    label();
  });
  system.addEventListener("change", label);
  label();
}
