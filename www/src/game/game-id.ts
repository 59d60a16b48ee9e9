/** By what two copies of a game are known to be the same: where it begins, its moves, who played it. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { hash } from "../text/cyrb53";

/** The key of a game in the list of stored games, 106 bits of a hash that need not withstand an attack. */
export function gameId(start: Position, moves: readonly string[], headers: ReadonlyMap<string, string>): string {
  const name = (header: string) => (headers.get(header) ?? "").normalize("NFC").toLowerCase().replace(/[\s.,]+/g, " ").trim();
  const text = [makeFen(start.toSetup()), moves.join(" "), name("White"), name("Black")].join("\n");
  return [0, 1].map((seed) => hash(text, seed).toString(36).padStart(11, "0")).join("");
}
