/** The move list: the main line in two columns with scores, comments and variations. */
import { byId, make } from "../shell/dom";
import { type Game, lineFrom, moveNumber, type Node } from "../game/game";
import { authorGlyph, glyphOf, markWords } from "../report/judgment";
import { bestScore } from "../score/known-score";
import type { State } from "../state/state";
import { capitalised } from "../text/words";

/** The elements of a move in the list. */
interface MoveElements {
  button: HTMLButtonElement;
  glyph: HTMLElement;
  score: HTMLElement | undefined;
  /** Whether the move belongs to the main line. */
  isMain: boolean;
}

/** Milliseconds of a press that opens the menu of a move. */
const LONG_PRESS = 500;

/** The list. It is redrawn when the tree changes; other changes update its elements. */
export class MoveList {
  readonly #root = byId("moves");
  /** The content for a game without moves. */
  readonly #welcome = byId("welcome");
  readonly #entries = new Map<Node, MoveElements>();
  readonly #nodes = new WeakMap<Element, Node>();
  #current: MoveElements | undefined;
  #chosen: HTMLElement | undefined;
  #frame = 0;

  constructor(private readonly state: State) {
    this.#root.addEventListener("click", ({ target }) =>
      state.go(this.#nodeOf(target)),
    );
    this.#bindMenu();
    state.join(({ tree, node, known, choice, report }) => {
      if (tree) this.#draw(state.game);
      else if (
        report ||
        (known && [...this.#entries.keys()].some(({ fen }) => known.has(fen)))
      )
        this.#refresh();
      if (node || tree) this.#mark();
      if (node || tree || choice) this.#point();
    });
  }

  #nodeOf(target: EventTarget | null): Node | undefined {
    const button = target instanceof Element ? target.closest("button") : null;
    return button ? this.#nodes.get(button) : undefined;
  }

  /** Opens the menu of a move by the second button of the mouse, the menu key, or a long press, for which Safari has no event. */
  #bindMenu(): void {
    const root = this.#root;
    const open = (event: MouseEvent) => {
      const node = this.#nodeOf(event.target);
      if (!node?.parent) return;
      event.preventDefault();
      // Without a connection there is no menu.
      import("./move-menu").then(
        ({ showMoveMenu }) => showMoveMenu(this.state, node, event),
        () => {},
      );
    };
    let timer = 0;
    root.addEventListener("contextmenu", open);
    root.addEventListener("pointerdown", (event) => {
      clearTimeout(timer);
      if (event.pointerType === "touch")
        timer = window.setTimeout(open, LONG_PRESS, event);
    });
    root.addEventListener(
      "pointermove",
      ({ movementX, movementY }) =>
        Math.hypot(movementX, movementY) > 3 && clearTimeout(timer),
    );
    for (const end of ["pointerup", "pointercancel"])
      root.addEventListener(end, () => clearTimeout(timer));
  }

  /** Marks the selected next move if there are several. */
  #point(): void {
    this.#chosen?.classList.remove("chosen");
    this.#chosen = undefined;
    const { node, choice } = this.state;
    if (!choice || node.children.length < 2) return;
    this.#chosen = this.#entries.get(choice)?.button;
    this.#chosen?.classList.add("chosen");
  }

  #mark(): void {
    const next = this.#entries.get(this.state.node);
    const focused = this.#root.contains(document.activeElement);
    if (this.#current) {
      this.#current.button.removeAttribute("aria-current");
      this.#current.button.tabIndex = -1;
    }
    this.#current = next;
    if (!next) return;
    next.button.setAttribute("aria-current", "true");
    next.button.tabIndex = 0;
    if (focused) next.button.focus({ preventScroll: true });
    // The position is read once per frame, after all views have drawn: earlier reads would cause extra layouts.
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(
      () => this.#current && this.#reveal(this.#current.button),
    );
  }

  /** Scrolls the list so that the move is inside it with a margin. */
  #reveal(button: HTMLElement): void {
    const box = this.#root.getBoundingClientRect();
    const at = button.getBoundingClientRect();
    const margin = Math.min(60, (box.height - at.height) / 2);
    if (at.top < box.top + margin || at.bottom > box.bottom - margin)
      this.#root.scrollTop += at.top - box.top - (box.height - at.height) / 2;
  }

  /** Updates glyphs and scores. The current move stays in view if glyphs move it. */
  #refresh(): void {
    const button = this.#current?.button;
    const [box, at] = [
      this.#root.getBoundingClientRect(),
      button?.getBoundingClientRect(),
    ];
    for (const [node, entry] of this.#entries) this.#fill(node, entry);
    if (!button || !at || at.bottom < box.top || at.top > box.bottom) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(
      () => this.#current && this.#reveal(this.#current.button),
    );
  }

  #fill(node: Node, { button, glyph, score, isMain }: MoveElements): void {
    if (!node.parent) return;
    const { text: sign, kind, mark } = glyphOf(node, this.state);
    const name = `glyph ${kind ?? (mark ? "good" : "")}`;
    if (glyph.textContent !== sign || glyph.className !== name) {
      glyph.textContent = sign;
      glyph.className = name;
      glyph.title = mark ? markWords(mark) : capitalised(kind ?? "");
    }
    const author = button.querySelector<HTMLElement>(".by-author");
    if (author) author.hidden = author.textContent === sign;
    if (!score) return;
    const known = bestScore(node, this.state);
    // In variations, scores of lines would repeat the score of the line's first position.
    const text =
      known && known.origin !== "rules" && (isMain || known.origin !== "line")
        ? known.text
        : "";
    // "White wins" is too long for the column.
    const short = text.replace(/^(\w)\w+ w/, "$1 w");
    if (score.textContent !== short) {
      score.textContent = short;
      score.title = text;
    }
  }

  #draw(game: Game): void {
    this.#entries.clear();
    this.#current = undefined;
    const main = lineFrom(game.root).slice(1);
    if (main.length === 0) {
      // A field in it keeps the focus.
      if (!this.#welcome.isConnected) this.#root.replaceChildren(this.#welcome);
      return;
    }
    const list = make("div", {
      className: "list",
      role: "group",
      "aria-label": "Moves of the game",
    });
    const start = make(
      "button",
      {
        className: "start",
        tabIndex: -1,
        "data-testid": "start",
      },
      "Start",
    );
    this.#enlist(game.root, {
      button: start,
      glyph: start,
      score: undefined,
      isMain: true,
    });
    list.append(start, ...this.#aside(game.root.notes.comment));
    let row: HTMLElement | undefined;
    for (const node of main) {
      const { parent } = node;
      if (!parent) continue;
      const white = parent.position.turn === "white";
      if (white || !row) {
        row = make(
          "div",
          "row",
          make("span", "number", `${parent.position.fullmoves}`),
        );
        if (!white) row.append(make("span", "gap", "…"));
        list.append(row);
      }
      row.append(this.#move(node, true));
      const aside = this.#aside(node.notes.comment, parent.children.slice(1));
      if (aside.length > 0) {
        if (white) row.append(make("span", "gap", "…"));
        list.append(...aside);
      }
      if (!white || aside.length > 0) row = undefined;
    }
    const result = game.headers.get("Result");
    if (result)
      list.append(make("p", "result", result.replace("1/2-1/2", "½-½")));
    this.#root.replaceChildren(list);
  }

  /** Returns the comment and the variations between two rows. */
  #aside(
    comment: string | undefined,
    variations: readonly Node[] = [],
  ): HTMLElement[] {
    if (!comment && variations.length === 0) return [];
    const aside = make("div", "aside");
    if (comment) aside.append(make("p", "comment", comment));
    aside.append(
      ...variations.map((variation) =>
        make("p", "variation", ...this.#variation(variation)),
      ),
    );
    return [aside];
  }

  /** Returns a variation as text, with its own variations in brackets. */
  #variation(start: Node): (HTMLElement | string)[] {
    return lineFrom(start).flatMap((node, index) => {
      const { parent } = node;
      if (!parent) return [];
      const number =
        index === 0 || parent.position.turn === "white"
          ? [make("span", "number", moveNumber(parent.position))]
          : [];
      // The caller draws the siblings of the first move.
      const branches =
        index === 0
          ? []
          : parent.children
              .slice(1)
              .map((sibling) =>
                make("span", "branch", ...this.#variation(sibling)),
              );
      const remark = (text: string | undefined) =>
        text ? [make("span", "comment", text), " "] : [];
      const comment = remark(node.notes.comment);
      return [
        ...remark(node.notes.before),
        make("span", "ply", ...number, this.#move(node, false)),
        ...comment,
        ...branches,
      ];
    });
  }

  #move(node: Node, main: boolean): HTMLButtonElement {
    const author = authorGlyph(node);
    const glyph = make("span", "glyph");
    const score = make("span", "move-score");
    const button = make(
      "button",
      {
        tabIndex: -1,
        "data-testid": main ? "move" : "variation-move",
      },
      make("span", "san", node.san),
      ...(author
        ? [
            make(
              "span",
              { className: "glyph by-author", title: "In the file" },
              author,
            ),
          ]
        : []),
      glyph,
      score,
    );
    const entry = { button, glyph, score, isMain: main };
    this.#enlist(node, entry);
    this.#fill(node, entry);
    return button;
  }

  #enlist(node: Node, entry: MoveElements): void {
    this.#entries.set(node, entry);
    this.#nodes.set(entry.button, node);
  }
}
