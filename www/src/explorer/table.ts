/** The table of moves: counts, results and evaluations. */
import type { ExploredMove, Played, PlayedMove, Results } from "shelfish/book";
import { bindPreview } from "../board/preview";
import { games, percent } from "../book/results";
import { resultsBar } from "../book/results-bar";
import { plural } from "../text/units";
import { byId, make, redraw } from "../shell/dom";
import { type Node, type Step, steps } from "../game/game";
import { openingOf } from "../game/opening-names";
import { scoreInWords } from "../score/score";

export interface Actions {
  play(step: Step): void;
  /** Shows a move on the board. */
  show(step: Step): void;
}

/** Maximum number of rows without a button for more, and the number of rows above the button. */
const [MAX_ROWS, SHOWN_ROWS] = [10, 8];

const number = (count: number): string => count.toLocaleString("en");

/** Draws the moves that were played from a position. */
export function draw(node: Node, answer: Played, actions: Actions): void {
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
  foldRare(drawn);
}

/** Hides the rarest moves of a long list, and offers them by a button. */
function foldRare(rows: readonly HTMLElement[]): void {
  const button = byId("rare");
  const rare = rows.length > MAX_ROWS ? rows.slice(SHOWN_ROWS) : [];
  button.hidden = rare.length === 0;
  const fold = (isFolded: boolean) => {
    for (const row of rare) row.hidden = isFolded;
    button.setAttribute("aria-expanded", String(!isFolded));
    button.textContent = isFolded ? `${rare.length} more moves` : "Fewer moves";
  };
  // The choice of the reader holds for the next positions.
  fold(button.dataset.shown !== "all");
  button.onclick = () => {
    const isFolded = button.dataset.shown === "all";
    button.dataset.shown = isFolded ? "few" : "all";
    fold(isFolded);
  };
}

/** Adds opening names and evaluations to the rows. The rows are not replaced, so that a click on them is not lost. */
export function fill(moves: readonly ExploredMove[]): void {
  for (const move of moves) {
    const line = byId("played-moves").querySelector(`[data-uci="${move.uci}"]`);
    const opening = openingOf(move.fen);
    if (opening)
      line?.querySelector("button")?.setAttribute("title", opening.name);
    line?.querySelector(".score")?.replaceChildren(...evaluation(move));
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
  actions: Actions,
): HTMLTableRowElement {
  const count = games(move);
  const button = make(
    "button",
    { type: "button", "data-testid": "played-move" },
    make("span", { className: "san" }, step.san),
  );
  const line = make(
    "tr",
    { "data-uci": move.uci },
    make("th", { scope: "row" }, button),
    make(
      "td",
      { className: "games" },
      number(count),
      make("span", { className: "share" }, percent(count, all)),
    ),
    make("td", {}, resultsBar(move)),
    make(
      "td",
      { className: "rating" },
      move.averageRating === undefined
        ? ""
        : String(Math.round(move.averageRating)),
    ),
    make("td", { className: "score" }),
  );
  line.addEventListener("click", () => actions.play(step));
  bindPreview(line, button, () => actions.show(step));
  return line;
}

function evaluation({ error, evaluation }: ExploredMove): HTMLElement[] {
  if (error)
    return [
      make(
        "span",
        { title: error.message, "aria-label": "could not be looked up" },
        "?",
      ),
    ];
  if (!evaluation) return [];
  const { score, depth, ...rest } = evaluation;
  return [
    make("span", { title: `Depth ${depth}. ${scoreInWords(rest)}` }, score),
  ];
}
