/** Any page: a PGN or a FEN in what is selected, in attributes, in fields, in preformatted text, or in the text of the page. */
import { fenFragment, lichessFragment, pgnFragment } from "./fragment";
import { content, fromFirst, mainLine, queryAll } from "./moves";
import { fenIn, pgnsIn, toPgn } from "./notation";

/** The fragment that opens what the page has; games come before positions. */
export function anyPage(): string | undefined {
  const selected = [String(getSelection())];
  // Frames that may be looked into belong to the page.
  const pages = [document, ...queryAll<HTMLIFrameElement>("iframe").flatMap((frame) => frame.contentDocument ?? [])];
  const places = [attributes, fields, preformatted, whole].map((place) => pages.flatMap(place));
  return gamesIn(selected) || positionIn(selected) || first(places, gamesIn) || viewers() || embedded() || first(places, positionIn) || positionIn([unescape(location.href)]);
}

/** The fragment that opens the games in the page's fields. */
export const fieldPgns = (): string | undefined => gamesIn(fields(document));

const gamesIn = (texts: string[]): string | undefined => pgnFragment(texts.flatMap(pgnsIn));
const positionIn = (texts: string[]): string | undefined => fenFragment(first(texts, fenIn));

function first<T>(list: T[], read: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const found = read(item);
    if (found) return found;
  }
  return undefined;
}

/** Viewers of games, such as that of Lichess, are given what they show in these. */
const attributes = (page: Document): string[] =>
  ["data-pgn", "pgn", "data-fen", "fen"].flatMap((name) => queryAll(`[${name}]`, page).map((element) => (element.getAttribute(name) ?? "").replace(/<br>/g, "\n")));

const fields = (page: Document): string[] => queryAll<HTMLInputElement>("textarea,input:not([type=password])", page).map((field) => field.value);

const preformatted = (page: Document): string[] => queryAll("pre,code,.pgn,script[type*=pgn]", page).map(content);

const whole = (page: Document): string[] => [page.body?.innerText ?? ""];

/** The moves of viewers of Lichess, which take their PGN out of the attribute. */
const viewers = (): string | undefined =>
  pgnFragment(queryAll(".lpv__moves").flatMap((list) => (fromFirst(list) ? toPgn({ Site: location.href }, mainLine(list)) : [])));

/** A game of Lichess in a frame that may not be looked into; the board refuses it if it is still being played. */
const embedded = (): string | undefined =>
  first(queryAll<HTMLIFrameElement>("iframe[src*='//lichess.org/embed/']"), ({ src }) => {
    const [, id, black] = /embed\/(?:game\/)?(\w{8})(\/black)?/.exec(src) ?? [];
    return id && lichessFragment(id, !!black);
  });
