/** The identity of a game: its start position, its moves and its players. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { hash } from "../text/cyrb53";

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
