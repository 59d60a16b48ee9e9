/** What every page does first: it restricts its connections, and binds the theme and keyboard shortcuts. */
import { writeString, byId, isField } from "./dom";

/** Restricts connections to this host, Lichess, Chess.com, and the hosts of the databases. A policy that a script adds can only narrow the policy of the page. */
export function restrictConnections(...databases: URL[]): void {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = [
    "connect-src 'self'",
    lichessUrl().origin,
    chessComUrl().origin,
    ...databases
      .map(({ origin }) => origin)
      .filter((origin) => origin !== "null"),
  ].join(" ");
  document.head.append(meta);
}

/** Returns the URL of Lichess, which the page may override in a meta element. */
export const lichessUrl = (): URL => siteUrl("lichess", "https://lichess.org");

/** Returns the URL of Chess.com's published data, which the page may override in a meta element. */
export const chessComUrl = (): URL =>
  siteUrl("chess.com", "https://api.chess.com");

function siteUrl(name: string, usual: string): URL {
  const named =
    document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ??
    "";
  return new URL(URL.canParse(named) ? named : usual);
}

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

let asked = false;

/** Registers the service worker, once, after the page is loaded. */
export function keepForOffline(): void {
  if (asked || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  asked = true;
  // Storage may be forbidden: the page then always needs its host.
  const keep = () =>
    void navigator.serviceWorker
      .register(new URL("sw.js", document.baseURI), { updateViaCache: "none" })
      .catch(() => {});
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep, { once: true });
}

/** Binds the buttons with these ids to actions. */
export function bindClicks(actions: Record<string, () => unknown>): void {
  for (const [id, action] of Object.entries(actions))
    byId(id).addEventListener("click", () => action());
}

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
    const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
    const action =
      actions[control + shifted + (key.length === 1 ? key.toLowerCase() : key)];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

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
