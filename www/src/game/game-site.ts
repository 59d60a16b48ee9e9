/** Where a game was played, by the headers that the big sites write. */
import type { GameSite } from "./game";

/** The site and the game's page there; undefined for a game over a board, or of a site that does not say so. */
export function gameSite(headers: ReadonlyMap<string, string>): GameSite | undefined {
  for (const name of ["GameURL", "Link", "Site"]) {
    const value = headers.get(name) ?? "";
    if (!/^https:\/\//.test(value) || !URL.canParse(value)) continue;
    const url = new URL(value);
    const host = url.hostname.replace(/^www\./, "");
    if (host === "lichess.org") return { name: "lichess", url: url.href };
    if (host === "chess.com") return { name: "chess.com", url: url.href };
  }
  return /^chess\.com$/i.test(headers.get("Site") ?? "") ? { name: "chess.com" } : undefined;
}
