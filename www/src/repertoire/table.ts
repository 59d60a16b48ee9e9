/** The table of moves from the position on the board, and the list of repeated mistakes. */
import type { Played, Results } from "shelfish";
import type { MoveActions } from "../board/board";
import { moveRow, share } from "../explorer/table";
import { games, percent, resultsBar } from "../book/results";
import { type Node, type Step, steps, moveNumber } from "../game/game";
import { type KnownScore, scoreInWords } from "../score/known-score";
import { byId, make, redraw, makeButton } from "../shell/dom";
import { plural, day } from "../text/words";
import {
  isOwnTurn,
  type RepeatedMistake,
  type Repertoire,
  type RepertoirePosition,
  scoreOf,
  lineTo,
  type RepertoireMove,
} from "./repertoire";
import type { Color } from "chessops/types";
import { Chess, type Position } from "chessops/chess";
import { outcomeOf, type Player } from "../players/player";
import type { PlayedGame } from "../sites/request";
import type { Prepared } from "./preparation";

/** A move of the player's games, of the book, or of both. */
export interface Row {
  uci: string;
  own?: Results;
  book?: Results;
}

/** Maximum number of moves that only the book has. */
const MAX_OTHERS = 5;

/** Returns the moves of a position: the most played own moves first, then the most played moves that only the book has. */
export function rowsOf(
  position: RepertoirePosition | undefined,
  book: Played | undefined,
): Row[] {
  const ofBook = new Map(book?.moves.map((move) => [move.uci, move]));
  const own = [...(position?.moves ?? [])].sort(
    (a, b) => b.games.length - a.games.length,
  );
  const known = new Set(own.map(({ uci }) => uci));
  const others = (book?.moves ?? [])
    .filter(({ uci }) => !known.has(uci))
    .slice(0, MAX_OTHERS);
  return [
    ...own.map((move) => {
      const same = ofBook.get(move.uci);
      return { uci: move.uci, own: move, ...(same ? { book: same } : {}) };
    }),
    ...others.map((move) => ({ uci: move.uci, book: move })),
  ];
}

/** Draws the moves. `book` is `undefined` before the book has answered. */
export function draw(
  node: Node,
  key: string,
  repertoire: Repertoire,
  book: Played | undefined,
  actions: MoveActions,
): void {
  const position = repertoire.positions.get(key);
  const rows = rowsOf(position, book);
  const all = { own: sum(position?.moves ?? []), book: book ? games(book) : 0 };
  byId("played").hidden = rows.length === 0;
  const count = games(all.own);
  const whose = isOwnTurn(key, repertoire.side)
    ? "the player"
    : "the opponents";
  byId("reached").textContent =
    count === 0
      ? `No game played on from this position. ${plural(all.book, "game")} of the book.`
      : `${plural(count, "game")} with a move by ${whose}, score ${percent(scoreOf(all.own, repertoire.side), 1)}.`;
  const isInBook = all.book > 0;
  const drawn = rows.flatMap((each) => {
    const [step] = steps(node.position, [each.uci]);
    return step
      ? [row(step, each, { own: count, book: all.book }, isInBook, actions)]
      : [];
  });
  redraw(byId("played-moves"), ...drawn);
}

/** Adds evaluations and losses to the rows. The rows are not replaced, so that a click on them is not lost. */
export function fill(
  score: (uci: string) => KnownScore | undefined,
  mistakes: readonly RepeatedMistake[],
): void {
  for (const line of byId("played-moves").querySelectorAll<HTMLElement>(
    "[data-uci]",
  )) {
    const uci = line.dataset.uci ?? "";
    const known = score(uci);
    const mistake = mistakes.find(({ move }) => move.uci === uci);
    const parts = known
      ? [
          make(
            "span",
            {
              title: `${known.depth === undefined ? "" : `Depth ${known.depth}. `}${scoreInWords(known)}`,
            },
            known.text,
          ),
        ]
      : [];
    if (mistake)
      parts.push(
        make(
          "span",
          { className: "loss", title: "Repeated mistake" },
          lossText(mistake),
        ),
      );
    line.querySelector(".score")?.replaceChildren(...parts);
  }
}

/** Returns the loss of a mistake in pawns, or in words if one of the scores is a mate. */
function lossText({ before, after }: RepeatedMistake): string {
  if (after.mate !== undefined)
    return before.mate === undefined ? "allows mate" : "mate";
  if (before.mate !== undefined) return "misses mate";
  return `−${(Math.abs((before.cp ?? 0) - (after.cp ?? 0)) / 100).toFixed(1)}`;
}

function row(
  step: Step,
  { uci, own, book }: Row,
  all: { own: number; book: number },
  isInBook: boolean,
  actions: MoveActions,
): HTMLTableRowElement {
  const absent = isInBook ? [make("div", "of-book", "not in book")] : [];
  const line = moveRow(
    step,
    uci,
    actions,
    [
      ...(own ? [count("own", own, all.own)] : []),
      ...(book ? [count("of-book", book, all.book)] : absent),
    ],
    [
      ...(own ? [resultsBar(own, "Own games")] : []),
      ...(book ? [thin(resultsBar(book, "Book"))] : []),
    ],
  );
  line.classList.toggle("unplayed", !own);
  return line;
}

/** Returns the number of games and its share. */
const count = (className: string, results: Results, all: number): HTMLElement =>
  make(
    "div",
    { className },
    games(results).toLocaleString("en"),
    share(games(results), all),
  );

function thin(bar: HTMLElement): HTMLElement {
  bar.classList.add("of-book");
  return bar;
}

function sum(moves: readonly Results[]): Results {
  const total = { white: 0, draws: 0, black: 0 };
  for (const { white, draws, black } of moves) {
    total.white += white;
    total.draws += draws;
    total.black += black;
  }
  return total;
}

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
