/** The player whose games were shown last, in local storage. */
import { readObject, writeString } from "../storage/local-storage";
import type { Player } from "./player";

const KEY = "player";

/** Returns the last player, or `undefined`. */
export function lastPlayer(): Player | undefined {
  const { site, name } = readObject(KEY);
  return (site === "lichess" || site === "chess.com") &&
    typeof name === "string" &&
    name !== ""
    ? { site, name }
    : undefined;
}

export const rememberPlayer = (player: Player): void =>
  void writeString(KEY, JSON.stringify(player));
