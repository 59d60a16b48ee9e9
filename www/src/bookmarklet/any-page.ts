/** Reads a PGN or a FEN from any page: from the selection, attributes, form fields, preformatted text, or the text of the page. */
import { gameOfPath } from "../link/lichess-game";
import { fenFragment, lichessFragment, pgnFragment } from "./fragment";
import { content, fromFirst, mainLine, queryAll } from "./moves";
import { fenIn, pgnsIn, toPgn } from "./notation";

/** Returns the fragment that opens the content of the page. Games are preferred to positions. */
export function anyPage(): string | undefined {
  const selected = [String(getSelection())];
  // Frames of the same origin count as parts of the page.
  const pages = [
    document,
    ...queryAll<HTMLIFrameElement>("iframe").flatMap(
      (frame) => frame.contentDocument ?? [],
    ),
  ];
  const places = [attributes, fields, preformatted, whole].map((place) =>
    pages.flatMap(place),
  );
  return (
    gamesIn(selected) ||
    positionIn(selected) ||
    first(places, gamesIn) ||
    viewers() ||
    embedded() ||
    first(places, positionIn) ||
    positionIn([unescape(location.href)])
  );
}

/** Returns the fragment that opens the games in the page's form fields. */
export const fieldPgns = (): string | undefined => gamesIn(fields(document));

const gamesIn = (texts: string[]): string | undefined =>
  pgnFragment(texts.flatMap(pgnsIn));
const positionIn = (texts: string[]): string | undefined =>
  fenFragment(first(texts, fenIn));

function first<T>(
  list: T[],
  read: (item: T) => string | undefined,
): string | undefined {
  for (const item of list) {
    const found = read(item);
    if (found) return found;
  }
  return undefined;
}

/** Viewers of games, such as the viewer of Lichess, get their game from these attributes. */
const attributes = (page: Document): string[] =>
  ["data-pgn", "pgn", "data-fen", "fen"].flatMap((name) =>
    queryAll(`[${name}]`, page).map((element) =>
      (element.getAttribute(name) ?? "").replace(/<br>/g, "\n"),
    ),
  );

const fields = (page: Document): string[] =>
  queryAll<HTMLInputElement>("textarea,input:not([type=password])", page).map(
    (field) => field.value,
  );

const preformatted = (page: Document): string[] =>
  queryAll("pre,code,.pgn,script[type*=pgn]", page).map(content);

const whole = (page: Document): string[] => [page.body?.innerText ?? ""];

/** Reads the moves that Lichess's viewer shows: it removes the attribute with the PGN. */
const viewers = (): string | undefined =>
  pgnFragment(
    queryAll(".lpv__moves").flatMap((list) =>
      fromFirst(list) ? toPgn({ Site: location.href }, mainLine(list)) : [],
    ),
  );

/** Finds a Lichess game in a frame of another origin. The board refuses the game if it is still being played. */
const embedded = (): string | undefined =>
  first(
    queryAll<HTMLIFrameElement>("iframe[src*='//lichess.org/embed/']"),
    ({ src }) => {
      const game = gameOfPath(new URL(src).pathname);
      return game && lichessFragment(game.id, game.side === "black");
    },
  );
