/**
 * The address of the page: `#lichess=NAME` or `#chess.com=NAME` is the player, `&games=300` the number of games, `&color=black` the player's colour,
 * and `&line=e2e4,e7e5` the moves to the position.
 */
import type { Color } from "chessops/types";
import { type Player, playerName, SITES } from "../players/player";

/** The numbers of games that can be chosen: the last games of the player. */
export const COUNTS = [100, 300, 1_000, 3_000, 5_000] as const;

export const USUAL_COUNT = 1_000;

/** Maximum number of moves in an address. */
const MAX_MOVES = 200;

export interface Place {
  /** The player; `undefined` if the address names no player with a valid name. */
  player?: Player;
  count: number;
  side: Color;
  /** Moves in UCI, which may be illegal. */
  line: readonly string[];
}

/** Reads a fragment without "#". Invalid parts are replaced by the usual values. */
export function parsePlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment);
  const count = Number(fields.get("games"));
  const player = (Object.keys(SITES) as Player["site"][]).flatMap((site) => {
    const named = playerName(`@${fields.get(site) ?? ""}`);
    return named ? [{ site, name: named.name }] : [];
  })[0];
  return {
    ...(player ? { player } : {}),
    count: COUNTS.find((each) => each === count) ?? USUAL_COUNT,
    side: fields.get("color") === "black" ? "black" : "white",
    line: (fields.get("line") ?? "").split(",", MAX_MOVES).filter(Boolean),
  };
}

/** Writes a fragment without "#". */
export function formatPlace({
  player,
  count,
  side,
  line,
}: Place): string {
  if (!player) return "";
  return [
    `${player.site}=${player.name}`,
    ...(count === USUAL_COUNT ? [] : [`games=${count}`]),
    ...(side === "black" ? ["color=black"] : []),
    ...(line.length > 0 ? [`line=${line.join(",")}`] : []),
  ].join("&");
}
