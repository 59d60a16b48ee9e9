/** Addresses of games on Lichess. Also a part of the bookmarklet. */

/** A game on Lichess, and the side at the bottom if the address names it. */
export interface LichessGame {
  id: string;
  side?: "white" | "black" | undefined;
}

/**
 * Reads "ID", "ID/white" or "ID/black". Returns `undefined` for any other text, also for pages of Lichess whose names look like ids. A player's
 * address has four more letters after the id, which are private and are left out.
 */
export function lichessGame(text: string): LichessGame | undefined {
  const [, id, , , side] =
    /^(?!analysis|training|practice|insights|timeline|features|streamer)(\w{8})(\w{4})?(\/(white|black))?$/.exec(
      text,
    ) ?? [];
  return id ? { id, side: side as LichessGame["side"] } : undefined;
}

/** Reads the path of a game or of its embedded viewer. Returns `undefined` for any other path. */
export const gameOfPath = (path: string): LichessGame | undefined =>
  lichessGame(path.replace(/^\/(embed\/(game\/)?)?|\/$/g, ""));
