/** By what two copies of a game are known to be the same: where it begins, its moves, who played it. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";

/** The key of a game in the list of stored games, 106 bits of a hash that need not withstand an attack. */
export function identity(start: Position, moves: readonly string[], headers: ReadonlyMap<string, string>): string {
  const name = (header: string) => (headers.get(header) ?? "").normalize("NFC").toLowerCase().replace(/[\s.,]+/g, " ").trim();
  const text = [makeFen(start.toSetup()), moves.join(" "), name("White"), name("Black")].join("\n");
  return hash(text, 0) + hash(text, 1);
}

/** cyrb53 by bryc (public domain): 53 bits in base 36. */
function hash(text: string, seed: number): string {
  let [low, high] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return (4294967296 * (2097151 & high) + (low >>> 0)).toString(36).padStart(11, "0");
}
