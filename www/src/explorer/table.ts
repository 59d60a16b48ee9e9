/** The table of moves: counts, results and evaluations. */
import type { ExploredMove, Played, PlayedMove, Results } from "shelfish";
import { bindMove, type MoveActions } from "../board/board";
import { games, percent, resultsBar } from "../book/results";
import { plural } from "../text/words";
import { byId, make, redraw } from "../shell/dom";
import { type Node, type Step, steps } from "../game/game";
import { openingOf } from "../moves/openings";
import {
  bestScore,
  type KnownScore,
  scoreInWords,
  scoreOfAnswer,
} from "../score/known-score";
import type { State } from "../state/state";

const number = (count: number): string => count.toLocaleString("en");

/** Draws the moves that were played from a position. */
export function draw(node: Node, answer: Played, actions: MoveActions): void {
  const all = games(answer);
  byId("played").hidden = all === 0;
  byId("played").classList.toggle("rated", answer.averageRating !== undefined);
  byId("reached").textContent =
    all === 0
      ? ""
      : `${plural(all, "game")} reached this position${ends(answer.ended)}`;
  const drawn = answer.moves.flatMap((move) => {
    const [step] = steps(node.position, [move.uci]);
    return step ? [row(step, move, all, actions)] : [];
  });
  redraw(byId("played-moves"), ...drawn);
}

/** Adds opening names and evaluations to the rows. The rows are not replaced, so that a click on them is not lost. */
export function fill(
  moves: readonly ExploredMove[],
  node: Node,
  state: State,
): void {
  for (const move of moves) {
    const line = byId("played-moves").querySelector(`[data-uci="${move.uci}"]`);
    const opening = openingOf(move.fen);
    if (opening)
      line?.querySelector("button")?.setAttribute("title", opening.name);
    const san = line?.querySelector(".san")?.textContent;
    const next = node.children.find((child) => child.san === san);
    const known =
      (next && bestScore(next, state)) ??
      scoreOfAnswer(move.evaluation ?? null);
    line?.querySelector(".score")?.replaceChildren(...evaluation(move, known));
  }
}

function ends(ended: Results): string {
  const count = games(ended);
  return count === 0
    ? ""
    : `, ${number(count)} of them ${count === 1 ? "ends" : "end"} here`;
}

function row(
  step: Step,
  move: PlayedMove,
  all: number,
  actions: MoveActions,
): HTMLTableRowElement {
  const rating =
    move.averageRating === undefined
      ? ""
      : String(Math.round(move.averageRating));
  return moveRow(
    step,
    move.uci,
    actions,
    [number(games(move)), share(games(move), all)],
    [resultsBar(move)],
    make("td", "rating", rating),
  );
}

/** Returns the share of some games, in percent. */
export const share = (count: number, all: number): HTMLElement =>
  make("span", "share", percent(count, all));

type Content = readonly (HTMLElement | string)[];

/** Returns a row with a move, its counts and bars, other cells, and a cell for the score. A click plays the move. */
export function moveRow(
  step: Step,
  uci: string,
  actions: MoveActions,
  counts: Content,
  bars: Content,
  ...cells: HTMLElement[]
): HTMLTableRowElement {
  const button = make(
    "button",
    { "data-testid": "played-move" },
    make("span", "san", step.san),
  );
  const line = make(
    "tr",
    { "data-uci": uci },
    make("th", { scope: "row" }, button),
    make("td", "games", ...counts),
    make("td", {}, ...bars),
    ...cells,
    make("td", "score"),
  );
  bindMove(line, button, step, actions);
  return line;
}

function evaluation(
  { error }: ExploredMove,
  known: KnownScore | undefined,
): HTMLElement[] {
  if (error && !known)
    return [
      make(
        "span",
        { title: error.message, "aria-label": "could not be looked up" },
        "?",
      ),
    ];
  if (!known) return [];
  const { depth, text } = known;
  const title = depth ? `Depth ${depth}. ${scoreInWords(known)}` : text;
  return [make("span", { title }, text)];
}
