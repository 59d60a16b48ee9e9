/** Players of Lichess and Chess.com, and the player whose games were shown last. */
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import type { PlayedGame, Range } from "../sites/request";
import { InputError } from "../text/words";
import { readObject, writeString } from "../shell/dom";

/** Sites with games by player, and their names. */
export const SITES = { lichess: "Lichess", "chess.com": "Chess.com" } as const;

export interface Player {
  site: keyof typeof SITES;
  name: string;
}

/** A name of a player, and the site if the text names a site. */
export interface NamedPlayer {
  site?: Player["site"];
  name: string;
}

/** A user name of either site. */
const NAME = /^[A-Za-z0-9][\w-]{1,29}$/;

/** A move such as "Nf6", which is no name. */
const MOVE =
  /^(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)[+#]?$/;

/** Reads a user name such as "@anna". Returns `undefined` for any other text. */
export function playerName(text: string): NamedPlayer | undefined {
  const name = text.trim().replace(/^@/, "");
  return NAME.test(name) && (text.includes("@") || !MOVE.test(name))
    ? { name }
    : undefined;
}

/** Reads the address of a player's page. Returns `undefined` for any other text. */
export function playerAddress(text: string): NamedPlayer | undefined {
  const [, site = "", path = "", name = ""] =
    /^(?:https?:\/\/)?(?:www\.)?(lichess\.org|chess\.com)\/(@|member|games\/archive)\/([\w-]+)(?:[/?#]\S*)?$/i.exec(
      text.trim(),
    ) ?? [];
  if (
    !NAME.test(name) ||
    (path === "@") !== (site.toLowerCase() === "lichess.org")
  )
    return undefined;
  return { site: path === "@" ? "lichess" : "chess.com", name };
}

/** Reads the name or the address of a player in a form. Throws an `InputError` for any other text. */
export function enteredPlayer(text: string): NamedPlayer {
  const player =
    playerAddress(text) ?? playerName(`@${text.trim().replace(/^@/, "")}`);
  if (!player)
    throw new InputError(
      "A user name has 2 to 30 letters, digits, hyphens or underscores.",
    );
  return player;
}

/** Yields the games of a player in a range, the last game first. Throws an `InputError`, or the signal's reason if the signal is aborted. */
export async function* fetchPlayed(
  { site, name }: Player,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<PlayedGame> {
  const fetchGames =
    site === "lichess"
      ? (await import("../sites/lichess")).fetchLichessGames
      : (await import("../sites/chess-com")).fetchChessComGames;
  yield* fetchGames(name, range, signal);
}

/** Returns the side of a player in a game; `undefined` if the player has another name. */
export function sideOf(
  { name }: Pick<Player, "name">,
  game: PlayedGame,
): Color | undefined {
  const own = name.toLowerCase();
  return (["white", "black"] as const).find(
    (side) => game[side].name.toLowerCase() === own,
  );
}

/** Returns the outcome for a side in a word, and the opponent with the rating. */
export function outcomeOf(
  game: PlayedGame,
  side: Color,
): { outcome: string; opponent: string } {
  const isWon = (game.result === "1-0") === (side === "white");
  const { name, rating } = game[opposite(side)];
  return {
    outcome: game.result === "1/2-1/2" ? "Drew" : isWon ? "Won" : "Lost",
    opponent: `${name || "?"}${rating ? ` (${rating})` : ""}`,
  };
}

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
