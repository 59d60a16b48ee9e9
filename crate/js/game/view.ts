// The contents of the element: board, bar, score, graph, moves, comment, buttons.

import type { FoundEval } from "../analysis/types.js";
import { winningChances } from "../shared/score.js";
import { Board } from "./board.js";
import { draw, make, minus } from "../elements/dom.js";
import { Graph } from "./graph.js";
import type { Line, Ply } from "./line.js";

/** Everything that is shown. */
export interface Shown {
  line: Line;
  /** Scores by ply: `null` if the database has no evaluation, `undefined` if unknown. */
  scores: readonly (FoundEval | null | undefined)[];
  ply: number;
  isFlipped: boolean;
  /** State of the lookup in the database. */
  lookup: "none" | "waiting" | "answered";
}

/** A command of the buttons and keys. */
export type Action = "first" | "previous" | "next" | "last" | "flip";

const BUTTONS: readonly (readonly [Action, label: string, icon: string])[] = [
  ["first", "First position", "M6 6v12M18 6l-8 6 8 6Z"],
  ["previous", "Previous move", "m16 6-8 6 8 6Z"],
  ["next", "Next move", "m8 6 8 6-8 6Z"],
  ["last", "Last position", "m6 6 8 6-8 6ZM18 6v12"],
  [
    "flip",
    "Flip the board",
    "M8 4v15m0 0-3.5-3.5M8 19l3.5-3.5M16 20V5m0 0-3.5 3.5M16 5l3.5 3.5",
  ],
];

const KEYS: Readonly<Record<string, Action>> = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  Home: "first",
  End: "last",
  f: "flip",
};

/** Returns White's chances at a ply, from -1 to 1; `undefined` if unknown. */
const chancesAt = (
  ply: Ply,
  known: FoundEval | null | undefined,
): number | undefined =>
  ply.over ?? (known ? winningChances(known.pvs[0]) : undefined);

export class View {
  readonly element: HTMLElement;
  readonly #board = new Board();
  readonly #graph: Graph;
  readonly #bar = make(
    "div",
    { class: "bar", part: "bar", "aria-hidden": "true" },
    make("div"),
  );
  readonly #score = make("span", { class: "score", part: "score" });
  readonly #facts = make("span", { class: "facts", part: "facts" });
  readonly #moves = make("div", {
    class: "moves",
    part: "moves",
    role: "group",
    "aria-label": "Moves",
  });
  readonly #comment = make("p", {
    class: "comment",
    part: "comment",
    hidden: "",
  });
  readonly #players = ["above", "below"].map((place) =>
    make("p", { class: `player ${place}`, part: "player" }),
  );
  readonly #buttons: ReadonlyMap<Action, HTMLButtonElement>;

  constructor(act: (action: Action) => void, go: (ply: number) => void) {
    this.#graph = new Graph(go);
    this.#buttons = new Map(
      BUTTONS.map(([action, label, d]) => {
        const icon = draw([
          "svg",
          { viewBox: "0 0 24 24", "aria-hidden": "true" },
          ["path", { d }],
        ]);
        const button = make(
          "button",
          { type: "button", "aria-label": label, title: label },
          icon,
        );
        button.addEventListener("click", () => act(action));
        return [action, button];
      }),
    );
    const board = make("div", { class: "place" }, this.#board.element);
    // Forward on the right half of the board, back on the left half.
    board.addEventListener("click", ({ clientX }) => {
      const { left, width } = board.getBoundingClientRect();
      act(clientX - left > width / 2 ? "next" : "previous");
    });
    this.element = make(
      "div",
      {
        class: "game",
        part: "game",
        role: "group",
        "aria-label": "Chess game",
      },
      make(
        "div",
        { class: "stage" },
        this.#players[0]!,
        this.#bar,
        board,
        this.#players[1]!,
      ),
      make("div", { class: "verdict" }, this.#score, this.#facts),
      this.#graph.element,
      this.#moves,
      make(
        "div",
        { class: "controls", part: "controls" },
        this.#comment,
        make("div", { class: "buttons" }, ...this.#buttons.values()),
      ),
    );
    this.element.addEventListener("keydown", (event) => {
      const action = KEYS[event.key];
      if (!action || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      act(action);
    });
    this.#moves.addEventListener("click", ({ target }) => {
      const ply = (target as Element).closest("button")?.dataset.ply;
      if (ply !== undefined) go(Number(ply));
    });
  }

  /** Writes the moves and draws the graph. */
  list({ line: { plies }, scores }: Shown): void {
    this.element.classList.toggle("single", plies.length < 2);
    this.#moves.replaceChildren(
      ...plies.slice(1).flatMap(({ san, glyph, number }, n) => {
        const pv = scores[n + 1]?.pvs[0];
        const button = make(
          "button",
          { type: "button", part: "move", "data-ply": String(n + 1) },
          san + glyph,
          make("small", {}, pv ? minus(pv.score) : ""),
        );
        if (number.endsWith(".")) return [make("span", {}, number), button];
        return n === 0
          ? [make("span", {}, number), make("span", {}, "…"), button]
          : [button];
      }),
    );
    this.#graph.show(plies.map((ply, n) => chancesAt(ply, scores[n])));
  }

  /** Shows the position. */
  show(shown: Shown): void {
    const { line, scores, ply, isFlipped } = shown;
    const at = line.plies[ply];
    if (!at) return;
    const pv = scores[ply]?.pvs[0];
    this.#board.isFlipped = isFlipped;
    this.#board.show(at, pv?.uci[0]);
    const chances = chancesAt(at, scores[ply]);
    this.#bar.classList.toggle("unknown", chances === undefined);
    this.#bar.classList.toggle("flipped", isFlipped);
    this.#bar.style.setProperty("--share", String(((chances ?? 0) + 1) / 2));
    const result =
      at.over === undefined ? "" : ["0–1", "½–½", "1–0"][at.over + 1];
    this.#score.textContent = result || (pv ? minus(pv.score) : "");
    const text = describe(shown);
    const facts = pv && !result ? text.split(", ").slice(1).join(", ") : text;
    this.#facts.textContent = facts.charAt(0).toUpperCase() + facts.slice(1);
    this.#graph.point(ply, describeMove(at, text));
    this.#comment.hidden = !line.plies.some(({ comment }) => comment);
    this.#comment.textContent = at.comment;
    for (const name of ["first", "previous"] as const)
      this.#disable(name, ply === 0);
    for (const name of ["next", "last"] as const)
      this.#disable(name, ply === Math.max(0, line.plies.length - 1));
    this.#showPlayers(line, isFlipped);
    this.#markMove(ply);
  }

  /** Describes the position for screen readers. */
  describe(shown: Shown): string {
    const at = shown.line.plies[shown.ply];
    return at ? describeMove(at, describe(shown)) : "";
  }

  /** Disables a button. A disabled button with the focus would swallow the keys, so that the focus moves. */
  #disable(
    action: "first" | "previous" | "next" | "last",
    isDisabled: boolean,
  ): void {
    const button = this.#buttons.get(action);
    if (!button || button.disabled === isDisabled) return;
    const hasFocus =
      (this.element.getRootNode() as ShadowRoot).activeElement === button;
    button.disabled = isDisabled;
    if (hasFocus && isDisabled)
      this.#buttons
        .get(action === "next" || action === "last" ? "previous" : "next")
        ?.focus();
  }

  #showPlayers({ headers }: Line, isFlipped: boolean): void {
    const result = /^([01]|1\/2)-([01]|1\/2)$/.exec(
      headers.get("Result") ?? "",
    );
    this.#players.forEach((player, n) => {
      const isWhite = (n === 1) !== isFlipped;
      const side = isWhite ? "White" : "Black";
      const elo = headers.get(`${side}Elo`) ?? "";
      const name = headers.get(side)?.replace(/^\?$/, "") ?? "";
      const points = result?.[isWhite ? 1 : 2]?.replace("1/2", "½");
      player.classList.toggle("black", !isWhite);
      player.replaceChildren(
        ...(name ? [name + (/^\d+$/.test(elo) ? ` (${elo})` : "")] : []),
        ...(name && points ? [make("span", {}, points)] : []),
      );
    });
  }

  /** Marks the last move, and scrolls it into the middle of the list. The page does not scroll. */
  #markMove(ply: number): void {
    for (const button of this.#moves.querySelectorAll("[aria-current]"))
      button.removeAttribute("aria-current");
    const button = this.#moves.querySelector<HTMLElement>(
      `[data-ply="${ply}"]`,
    );
    if (!button) return void (this.#moves.scrollTop = 0);
    button.setAttribute("aria-current", "true");
    const [box, list] = [
      button.getBoundingClientRect(),
      this.#moves.getBoundingClientRect(),
    ];
    const middle =
      this.#moves.scrollTop +
      box.top -
      list.top -
      (list.height - box.height) / 2;
    // Whole rows.
    if (box.height > 0)
      this.#moves.scrollTop = box.height * Math.round(middle / box.height);
  }
}

/** Describes the score of the position. */
function describe({ line, scores, ply, lookup }: Shown): string {
  const at = line.plies[ply];
  const known = scores[ply];
  if (at?.over !== undefined) return at.over === 0 ? "stalemate" : "checkmate";
  if (!known)
    return {
      none: "",
      waiting: "looking it up…",
      answered:
        known === null ? "not in the database" : "could not be looked up",
    }[lookup];
  const depth = known.depth === undefined ? "" : `, depth ${known.depth}`;
  return `${minus(known.pvs[0].score)}${depth}${known.from === "pgn" ? ", from the PGN" : ""}`;
}

const describeMove = ({ number, san }: Ply, text: string) =>
  [number ? `${number} ${san}` : "Start", text].filter(Boolean).join(", ");
