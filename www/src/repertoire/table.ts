/** The table of moves from the position on the board: own games, the book, and evaluations. */
import type { Played, Results } from "shelfish";
import { bindMove, type MoveActions } from "../board/board";
import { games, percent, resultsBar } from "../book/results";
import { type Node, type Step, steps } from "../game/game";
import { type KnownScore, scoreInWords } from "../score/known-score";
import { byId, make, redraw } from "../shell/dom";
import { plural } from "../text/units";
import {
  isOwnTurn,
  type RepeatedMistake,
  type Repertoire,
  type RepertoirePosition,
  scoreOf,
} from "./repertoire";

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
export function lossText({ before, after }: RepeatedMistake): string {
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
  const button = make(
    "button",
    { type: "button", "data-testid": "played-move" },
    make("span", { className: "san" }, step.san),
  );
  const line = make(
    "tr",
    { "data-uci": uci, ...(own ? {} : { className: "unplayed" }) },
    make("th", { scope: "row" }, button),
    make(
      "td",
      { className: "games" },
      ...(own ? [count("own", own, all.own)] : []),
      ...(book
        ? [count("of-book", book, all.book)]
        : isInBook
          ? [make("div", { className: "of-book" }, "not in book")]
          : []),
    ),
    make(
      "td",
      {},
      ...(own ? [resultsBar(own, "Own games")] : []),
      ...(book ? [thin(resultsBar(book, "Book"))] : []),
    ),
    make("td", { className: "score" }),
  );
  bindMove(line, button, step, actions);
  return line;
}

/** Returns the number of games and its share. */
const count = (className: string, results: Results, all: number): HTMLElement =>
  make(
    "div",
    { className },
    games(results).toLocaleString("en"),
    make("span", { className: "share" }, percent(games(results), all)),
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
