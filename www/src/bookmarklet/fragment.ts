/** Fragments of the board's URL that open a game or a position, or messages if the bookmarklet opens nothing. Messages are short, because the whole bookmarklet is one link. */
import { toPgn } from "./notation";
import { dataUrl } from "../settings/settings";

/** Maximum length of a link. Firefox refuses links of more than a mebibyte. */
const MAX_LENGTH = 900_000;

/** Returns the fragment that opens games, if there are any. */
export function pgnFragment(games: string[]): string | undefined {
  const fragment = encodeURIComponent(games.join("\n\n"));
  if (fragment.length > MAX_LENGTH)
    refuse("Too long for a link: paste the PGN at the board.");
  return fragment && `pgn=${fragment}`;
}

/** Returns the fragment that opens a game from its tags and moves. */
export const gameFragment = (
  tags: Record<string, string | undefined>,
  moves: string[],
): string | undefined =>
  moves.length > 0
    ? pgnFragment([toPgn(tags, moves)])
    : refuse("It shows no moves.");

/** Returns the fragment that opens a position. */
export const fenFragment = (fen: string | undefined): string | undefined =>
  fen && `fen=${fen}`;

/** Returns the fragment of a Lichess game. The board fetches the game with its clocks, and refuses it if it is still being played. */
export const lichessFragment = (id: string, black: boolean): string =>
  `lichess=${id}${black ? "/black" : ""}`;

export function refuse(reason: string): never {
  throw new Error(reason);
}

/** Refuses a game that is or may be in progress. */
export const refuseRunning = (fact = "This game is being played"): never =>
  refuse(`${fact}: only finished games are opened (fair play).`);

/** Refuses a page if it does not show whether the game is over. */
export const refuseUnclear = (): never =>
  refuseRunning("It does not show whether this game is over");

/**
 * Returns the `javascript:` URL that calls a function, given as an expression, with the board's URL. Everything except letters and digits is
 * percent-encoded: quotes, bookmark editors and URL fields, which drop line breaks, do not change it.
 */
export function bookmarkletLink(code: string, board: string): string {
  return `javascript:${encodeURIComponent(`void ${code}(${JSON.stringify(board)})`)}`;
}

/** Returns the URL of the board next to a page, with the page's `?db=` if it is valid. */
export function boardBeside(page: string): string {
  const { search } = new URL(page);
  const database = new URLSearchParams(search).get("db");
  return new URL(
    database === null || !dataUrl(database, page)
      ? "./"
      : `./?db=${encodeURIComponent(database)}`,
    page,
  ).href;
}
