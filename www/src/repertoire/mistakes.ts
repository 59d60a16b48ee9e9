/** The list of repeated mistakes. */
import type { Color } from "chessops/types";
import { Chess, type Position } from "chessops/chess";
import { percent } from "../book/results";
import { moveNumber, steps } from "../game/game";
import { outcomeOf, type Player } from "../players/player";
import { byId, make, makeButton } from "../shell/dom";
import type { PlayedGame } from "../sites/request";
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

/** Maximum number of mistakes in the list, and of games of a mistake. */
const [MAX_MISTAKES, MAX_GAMES] = [30, 50];

/** Draws the mistakes, the highest cost first. Mistakes that have not changed stay: an open list of games stays open. `show` shows a position. */
export function drawMistakes(
  prepared: Prepared,
  repertoire: Repertoire,
  mistakes: readonly RepeatedMistake[],
  show: (key: string) => void,
): void {
  const list = byId("mistakes-list");
  const rows = mistakes.slice(0, MAX_MISTAKES).map((mistake, at) => {
    const { key, move, best } = mistake;
    const position = positionAt(repertoire, key);
    const better = named(position, best);
    const loss = /^−/.test(lossText(mistake))
      ? `It loses ${lossText(mistake).slice(1)} against ${better}`
      : `It ${lossText(mistake)}; better is ${better}`;
    const words = `Played ${named(position, move.uci)} in ${plural(move.games.length, "game")}. ${loss}. Score: ${percent(scoreOf(move, repertoire.side), 1)}.`;
    const before = list.children[at];
    return before?.firstElementChild?.textContent === words
      ? before
      : make(
          "li",
          {},
          makeButton("mistake", () => show(key), words),
          gameList(prepared, move, repertoire, key),
        );
  });
  list.replaceChildren(...rows);
}

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
