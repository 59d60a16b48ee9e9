/** Entries of the list of games. Loaded when the first game is stored. */
import type { Game } from "../game/game";
import type { Checked } from "../pgn/read-game";
import type { PgnText } from "../pgn/split";
import { toPgn } from "../pgn/write-game";
import type { Stored } from "./game-store";

/** Returns the entry of a game that was checked, with its original text. */
export function ofText(
  { headers, result, id, plies, text }: PgnText & Checked,
  opened: number,
): Stored {
  return {
    ...described(headers, result),
    id,
    plies,
    text,
    size: text.length,
    opened,
  };
}

export function ofBoard(game: Game, id: string, opened: number): Stored {
  const text = toPgn(game);
  const name = game.slug
    ? `famous:${game.slug}`
    : game.site?.id
      ? `${game.site.name}:${game.site.id}`
      : undefined;
  const source = name ? { source: name } : {};
  return {
    ...described(game.headers),
    id,
    plies: game.sourcePlies,
    text,
    size: text.length,
    opened,
    ...source,
  };
}

function described(headers: ReadonlyMap<string, string>, result?: string) {
  const field = (name: string) => headers.get(name) ?? "";
  return {
    white: field("White"),
    black: field("Black"),
    event: field("Event"),
    date: field("UTCDate") || field("Date"),
    result: field("Result") || (result === "*" ? "" : (result ?? "")),
    opening: [field("ECO"), field("Opening")].filter(Boolean).join(" "),
  };
}
