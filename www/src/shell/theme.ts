/** The light and the dark theme. The system's preference applies until the user presses the button. */
import { byId } from "./dom";

const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = (): boolean => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

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
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Storage may be forbidden: the choice then ends with the page.
    }
    label();
  });
  system.addEventListener("change", label);
  label();
}
