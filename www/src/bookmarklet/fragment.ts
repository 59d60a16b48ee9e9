/** The fragments of the board's address that open a game or a position. */
import { toPgn } from "./notation";
import { refuse } from "./refusal";

/** Longest link that is made; Firefox refuses those beyond a mebibyte. */
const MAX_LENGTH = 900_000;

/** Opens games, if there are any. */
export function pgnFragment(games: string[]): string | undefined {
  const fragment = encodeURIComponent(games.join("\n\n"));
  if (fragment.length > MAX_LENGTH) refuse("Too long for a link: copy the PGN and paste it at the board.");
  return fragment && `pgn=${fragment}`;
}

/** Opens the game that a page shows. */
export const gameFragment = (tags: Record<string, string | undefined>, moves: string[]): string | undefined =>
  moves.length > 0 ? pgnFragment([toPgn(tags, moves)]) : refuse("There are no moves here.");

/** Opens a position. */
export const fenFragment = (fen: string | undefined): string | undefined => fen && `fen=${fen}`;

/** Opens a game of Lichess, which the board fetches with its clocks, and refuses while it is being played. */
export const lichessFragment = (id: string, black: boolean): string => `lichess=${id}${black ? "/black" : ""}`;

/** The game's id in a path of Lichess: of players' addresses, which have four letters more, the part that is public. */
export const lichessId = (path: string): string | undefined =>
  // The path of the analysis board looks like one.
  /^\/(?!analysis)(\w{8})(\w{4})?(\/white|\/black)?\/?$/.exec(path)?.[1];
