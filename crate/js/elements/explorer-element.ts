// <shelfish-explorer fen="…" book="https://example.org/book/">: the moves that games played from a position.

import { openShared } from "./origins.js";
import type { Explored, ExploredMove, Results } from "../shared/types.js";
import { make, minus } from "./dom.js";
import { LookupElement, shadow } from "./element.js";
import type { MoveDetail, ShelfishExplorerEventMap } from "./types.js";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

const STYLE = `
.explorer { overflow: hidden; border: 1px solid var(--_edge); border-radius: var(--shelfish-radius, 10px); background: var(--_paper); }
.path { display: flex; flex-wrap: wrap; gap: 2px; padding: 6px 8px; border-bottom: 1px solid var(--_edge); font-size: 14px; }
.path button { padding: 2px 7px; }
.path [aria-current] { background: var(--_wash); font-weight: 650; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th { padding: 6px 8px; color: var(--_soft); font-size: 12px; font-weight: 500; text-align: end; }
td { padding: 1px 8px; text-align: end; white-space: nowrap; }
th:first-child { padding-inline-start: 12px; text-align: start; }
td:first-child { padding-inline-start: 4px; text-align: start; }
tbody tr:hover { background: var(--_raised); }
td button { min-width: 4.4em; padding: 5px 8px; text-align: start; font-weight: 650; }
td small { color: var(--_soft); }
.results { width: 42%; }
.share { display: flex; height: 18px; overflow: hidden; border-radius: 4px; box-shadow: 0 0 0 1px var(--_edge); font-size: 11px; line-height: 18px; text-align: center; }
.share span { overflow: hidden; }
.share .white { background: light-dark(#fffdf9, #dcd6ca); color: #24221e; }
.share .draws { background: light-dark(#b5aea1, #6b665e); color: light-dark(#24221e, #fffdf9); }
.share .black { background: light-dark(#4a4640, #0e0d0c); color: #fffdf9; }
.facts { margin: 0; padding: 10px 12px; }
.error { margin: 0; padding: 6px 12px; font-size: 14px; overflow-wrap: anywhere; }
@container (max-width: 420px) { .games small { display: none; } }
`;

/** A move that the user played in the element, and the position after the move. */
interface Step {
  san: string;
  fen: string;
}

/**
 * `<shelfish-explorer>`: the moves that games played from a position, their results, and their evaluations. A click on a move shows the
 * position after the move.
 *
 * The attributes are those of `ShelfishExplorerAttributes`. Events, which do not bubble: `move` (a `CustomEvent` with
 * {@link MoveDetail}; if it is cancelled, the element keeps its position), `explored` (with the answer), `error` (with a `string`).
 * Parts: `explorer`, `path`, `table`, `move`, `results`, `facts`, `error`. Custom properties: as of `<shelfish-game>`.
 */
export class ShelfishExplorer extends LookupElement<ShelfishExplorerEventMap> {
  static readonly observedAttributes = ["fen", "book", "database", "moves"];

  readonly #path = make("div", {
    class: "path",
    part: "path",
    role: "group",
    "aria-label": "Moves",
    hidden: "",
  });
  readonly #rows = make("tbody");
  readonly #table = make("table", { part: "table", hidden: "" });
  readonly #facts = make("p", { class: "facts", part: "facts" });
  #steps: Step[] = [];
  #value: Explored | undefined;

  /** The answer that is shown; `undefined` before the answer. */
  get value(): Explored | undefined {
    return this.#value;
  }

  protected build(): HTMLElement {
    const head = ["Move", "Games", "White, draw, Black", "Score"].map((name) =>
      make("th", { scope: "col" }, name),
    );
    this.#table.append(make("thead", {}, make("tr", {}, ...head)), this.#rows);
    const content = make(
      "div",
      {
        class: "explorer",
        part: "explorer",
        role: "group",
        "aria-label": "Opening explorer",
      },
      this.#path,
      this.#table,
      this.#facts,
    );
    shadow(this, STYLE).append(content);
    return content;
  }

  protected override changed(name: string): boolean {
    if (name === "fen") {
      this.#steps = [];
      this.#showPath();
    }
    return true;
  }

  protected clear(): void {
    this.#value = undefined;
    this.#table.hidden = true;
    this.#facts.textContent = "";
  }

  protected async load(signal: AbortSignal): Promise<void> {
    const [book, database] = [this.url("book"), this.url("database")];
    if (!book)
      throw new TypeError(
        '<shelfish-explorer> needs the attribute book: the URL of a book, such as book="https://example.org/book/"',
      );
    const fen = this.#steps.at(-1)?.fen ?? (this.fen || START);
    this.#facts.textContent ||= "Looking it up…";
    const [open, evaluations] = await Promise.all([
      openShared("openBook", book),
      database === undefined ? undefined : openShared("openDatabase", database),
    ]);
    const value = await open.explore(fen, { signal, database: evaluations });
    if (signal.aborted) return;
    this.#show(value);
    this.dispatchEvent(new CustomEvent("explored", { detail: value }));
  }

  #show(value: Explored): void {
    this.#value = value;
    const all = total(value);
    const most =
      Math.trunc(Number(this.getAttribute("moves") ?? 12)) || Infinity;
    const moves = value.moves.slice(0, most);
    this.#rows.replaceChildren(...moves.map((move) => this.#row(move, all)));
    this.#table.hidden = moves.length === 0;
    const rest = value.moves.length - moves.length;
    const games = `${all.toLocaleString("en")} ${all === 1 ? "game" : "games"}`;
    this.#facts.textContent =
      all === 0
        ? "No game of the book reached this position."
        : rest > 0
          ? `${games}, ${rest} more ${rest === 1 ? "move" : "moves"}`
          : games;
    this.announce(this.#facts.textContent);
  }

  #row(move: ExploredMove, all: number): HTMLElement {
    const { san, uci, fen, evaluation } = move;
    const games = total(move);
    const button = make("button", { type: "button", part: "move" }, san);
    button.addEventListener("click", () => {
      const event = new CustomEvent<MoveDetail>("move", {
        detail: { san, uci, fen },
        cancelable: true,
      });
      if (this.dispatchEvent(event)) this.#go([...this.#steps, { san, fen }]);
    });
    const percent = Math.round((100 * games) / all);
    const share = make("small", {}, ` ${percent || "<1"} %`);
    return make(
      "tr",
      {},
      make("td", {}, button),
      make("td", { class: "games" }, games.toLocaleString("en"), share),
      make("td", { class: "results", part: "results" }, shares(move)),
      make("td", {}, evaluation ? minus(evaluation.pvs[0].score) : ""),
    );
  }

  #showPath(): void {
    const steps: (Step | undefined)[] = [undefined, ...this.#steps];
    this.#path.hidden = steps.length === 1;
    const buttons = steps.map((step, n) => {
      const button = make(
        "button",
        {
          type: "button",
          ...(n === steps.length - 1 && { "aria-current": "step" }),
        },
        step?.san ?? "Start",
      );
      button.addEventListener("click", () => this.#go(this.#steps.slice(0, n)));
      return button;
    });
    this.#path.replaceChildren(...buttons);
  }

  #go(steps: Step[]): void {
    this.#steps = steps;
    const hasFocus = this.shadowRoot?.activeElement;
    this.#showPath();
    // The row with the focus disappears.
    if (hasFocus)
      this.#path.querySelector<HTMLElement>("[aria-current]")?.focus();
    this.look();
  }
}

const total = ({ white, draws, black }: Results): number =>
  white + draws + black;

/** Draws the shares of the results. */
function shares(results: Results): HTMLElement {
  const all = total(results);
  const parts = (["white", "draws", "black"] as const).map((name) => {
    const percent = (100 * results[name]) / all;
    const part = make(
      "span",
      { class: name },
      percent < 15 ? "" : `${Math.round(percent)}`,
    );
    part.style.width = `${percent}%`;
    return part;
  });
  const label = `White ${results.white}, draws ${results.draws}, Black ${results.black}`;
  return make(
    "div",
    { class: "share", role: "img", "aria-label": label, title: label },
    ...parts,
  );
}
