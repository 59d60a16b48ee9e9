/** What every page does first: it restricts its connections and binds the button of the theme. */
import { writeString } from "../storage/local-storage";
import { byId } from "./dom";

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
