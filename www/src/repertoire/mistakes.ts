/** The list of repeated mistakes. */
import type { Color } from "chessops/types";
import { Chess, type Position } from "chessops/chess";
import { percent } from "../book/results";
import { moveNumber, steps } from "../game/game";
import { outcomeOf, type Player } from "../players/player";
import { byId, make, makeButton } from "../shell/dom";
import type { PlayedGame } from "../sites/played-game";
import { day, plural } from "../text/units";
import type { Prepared } from "./preparation";
import {
  lineTo,
  type RepeatedMistake,
  type Repertoire,
  type RepertoireMove,
  scoreOf,
} from "./repertoire";
import { lossText } from "./table";

/** Maximum number of entries of a list, and of games of an entry. */
const [MAX_ENTRIES, MAX_GAMES] = [100, 50];

/** Number of entries of a list that are shown at first. */
const FEW = 8;

/** Shows the position with a key. */
type Show = (key: string) => void;

/** Draws the mistakes, the highest cost first. */
export function drawMistakes(
  prepared: Prepared,
  repertoire: Repertoire,
  mistakes: readonly RepeatedMistake[],
  show: Show,
): void {
  redrawList("mistakes-list", mistakes, (mistake) => {
    const { key, move, best } = mistake;
    const position = positionAt(repertoire, key);
    const better = named(position, best);
    const loss = /^−/.test(lossText(mistake))
      ? `It loses ${lossText(mistake).slice(1)} against ${better}`
      : `It ${lossText(mistake)}; better is ${better}`;
    const words = `Played ${named(position, move.uci)} in ${plural(move.games.length, "game")}. ${loss}. Score: ${percent(scoreOf(move, repertoire.side), 1)}.`;
    return entry(
      "mistake",
      words,
      () => show(key),
      gameList(prepared, move, repertoire, key),
    );
  });
}

/** Replaces the entries if they have changed: an open list of games stays open. Shows few entries, and more after a click on the button. */
function redrawList<T>(
  id: string,
  all: readonly T[],
  draw: (each: T) => HTMLElement,
): void {
  const list = byId(id);
  const some = all
    .slice(0, list.dataset.all === undefined ? FEW : MAX_ENTRIES)
    .map(draw);
  const shown =
    some.length < Math.min(all.length, MAX_ENTRIES)
      ? [...some, more(list, all, draw)]
      : some;
  const texts = (entries: Iterable<Element>) =>
    JSON.stringify(
      Array.from(
        entries,
        ({ firstElementChild }) => firstElementChild?.textContent,
      ),
    );
  if (texts(list.children) !== texts(shown)) list.replaceChildren(...shown);
}

/** Returns an entry with a button that shows all entries. */
function more<T>(
  list: HTMLElement,
  all: readonly T[],
  draw: (each: T) => HTMLElement,
): HTMLElement {
  const show = () => {
    list.dataset.all = "true";
    redrawList(list.id, all, draw);
    list.children[FEW]?.querySelector("button")?.focus();
  };
  return make(
    "li",
    {},
    makeButton(
      { className: "more", "data-testid": "more" },
      show,
      all.length > MAX_ENTRIES
        ? `Show ${MAX_ENTRIES} of ${all.length.toLocaleString("en")}`
        : `Show all ${all.length}`,
    ),
  );
}

const entry = (
  kind: string,
  words: string,
  show: () => void,
  games: HTMLElement,
): HTMLElement => make("li", {}, makeButton(kind, show, words), games);

/** Returns the games of a move. The list is filled when it is opened. */
function gameList(
  { games, player }: Prepared,
  move: RepertoireMove,
  { side, positions }: Repertoire,
  key: string,
): HTMLElement {
  const ply = (positions.get(key)?.ply ?? 0) + 1;
  const list = make("ul", {});
  const details = make(
    "details",
    { "data-testid": "games" },
    make("summary", {}, "Games"),
    list,
  );
  details.addEventListener("toggle", () => {
    if (list.childElementCount > 0) return;
    const items = move.games.slice(0, MAX_GAMES).flatMap((number) => {
      const game = games[number];
      return game ? [make("li", {}, gameLink(game, player, side, ply))] : [];
    });
    const rest = move.games.length - items.length;
    list.replaceChildren(
      ...items,
      ...(rest > 0
        ? [make("li", {}, `and ${plural(rest, "other game")}`)]
        : []),
    );
  });
  return details;
}

/** Returns a link to a game: on the board for a game of Lichess, else on its site. */
function gameLink(
  game: PlayedGame,
  { site }: Player,
  side: Color,
  ply: number,
): HTMLElement {
  const { outcome, opponent } = outcomeOf(game, side);
  const words = `${outcome} against ${opponent}, ${day(game.time)}`;
  if (site === "lichess")
    return make(
      "a",
      { href: `./#lichess=${game.id}/${side}&ply=${ply}` },
      words,
    );
  return make(
    "a",
    { href: game.url, target: "_blank", rel: "noopener" },
    words,
  );
}

/** Returns the position with a key, with its move number. */
function positionAt(repertoire: Repertoire, key: string): Position {
  const start = Chess.default();
  return steps(start, lineTo(repertoire, key)).at(-1)?.position ?? start;
}

/** Returns a move with its number: "6. Bg5", "6… Bg4". */
function named(position: Position, uci: string): string {
  return `${moveNumber(position)} ${steps(position, [uci])[0]?.san ?? uci}`;
}
