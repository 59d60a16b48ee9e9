/** The identity of a game: its start position, its moves, its players, and the site on which it was played. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import type { GameSite } from "./game";

/** Returns the key of a game in the list of stored games: 106 bits of a non-cryptographic hash. */
export function gameId(
  start: Position,
  moves: readonly string[],
  headers: ReadonlyMap<string, string>,
): string {
  const name = (header: string) =>
    (headers.get(header) ?? "")
      .normalize("NFC")
      .toLowerCase()
      .replace(/[\s.,]+/g, " ")
      .trim();
  const text = [
    makeFen(start.toSetup()),
    moves.join(" "),
    name("White"),
    name("Black"),
  ].join("\n");
  return [0, 1]
    .map((seed) => hash(text, seed).toString(36).padStart(11, "0"))
    .join("");
}

/** cyrb53 by bryc (public domain): a non-cryptographic hash of 53 bits. */
export function hash(text: string, seed = 0): number {
  let [low, high] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low =
    Math.imul(low ^ (low >>> 16), 2246822507) ^
    Math.imul(high ^ (high >>> 13), 3266489909);
  high =
    Math.imul(high ^ (high >>> 16), 2246822507) ^
    Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (2097151 & high) + (low >>> 0);
}

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
