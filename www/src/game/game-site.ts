/** The site on which a game was played, from the headers that Lichess and chess.com write. */
import type { GameSite } from "./game";

/** Returns the site and the game's page; `undefined` if the headers name no known site. */
export function gameSite(
  headers: ReadonlyMap<string, string>,
): GameSite | undefined {
  for (const name of ["GameURL", "Link", "Site"]) {
    const value = headers.get(name) ?? "";
    if (!/^https:\/\//.test(value) || !URL.canParse(value)) continue;
    const url = new URL(value);
    const host = url.hostname.replace(/^www\./, "");
    if (host === "lichess.org") return { name: "lichess", url: url.href };
    if (host === "chess.com") return { name: "chess.com", url: url.href };
  }
  return /^chess\.com$/i.test(headers.get("Site") ?? "")
    ? { name: "chess.com" }
    : undefined;
}
