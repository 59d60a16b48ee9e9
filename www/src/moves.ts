/** The move list: the main line in two columns with its scores, variations in between. */
import { byId, calm, make } from "./dom";
import { type Game, lineFrom, moveNumber, type Node } from "./game";

/** The list; it redraws as a whole when the tree has grown, else it only moves its mark. */
export class MoveList {
  readonly #root = byId("moves");
  readonly #buttons = new Map<Node, HTMLButtonElement>();
  #current: HTMLButtonElement | undefined;
  #size = -1;
  #game: Game | undefined;

  /** `score` gives what is known of a position already; `go` steps to a node; `empty` is shown before the first move. */
  constructor(
    private readonly score: (node: Node) => string | undefined,
    private readonly go: (node: Node) => void,
    private readonly empty: () => HTMLElement,
  ) {}

  /** Shows the game with a mark at `node`. */
  show(game: Game, node: Node): void {
    const size = count(game.root);
    if (game !== this.#game || size !== this.#size) {
      this.#game = game;
      this.#size = size;
      this.#draw(game);
    }
    for (const [at, button] of this.#buttons) {
      const here = at === node;
      if (here) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = here || (node === game.root && at === game.root.children[0]) ? 0 : -1;
    }
    this.#current = this.#buttons.get(node);
    if (this.#root.contains(document.activeElement)) this.#current?.focus({ preventScroll: true });
    this.#reveal();
  }

  /** Fills in scores that have become known. */
  refresh(): void {
    for (const [node, button] of this.#buttons) {
      const slot = button.querySelector(".move-score");
      if (slot) slot.textContent = this.score(node) ?? "";
    }
    // The graph that appears with the scores takes some of the list's room.
    this.#reveal();
  }

  #draw(game: Game): void {
    this.#buttons.clear();
    const main = lineFrom(game.root).slice(1);
    if (main.length === 0) {
      this.#root.replaceChildren(this.empty());
      return;
    }
    const grid = make("div", { className: "grid", role: "group", "aria-label": "Moves of the game" });
    let openRow = false;
    for (const node of main) {
      const parent = node.parent;
      if (!parent) continue;
      const white = parent.position.turn === "white";
      if (white || !openRow) {
        grid.append(make("span", { className: "number" }, `${parent.position.fullmoves}`));
        if (!white) grid.append(make("span", { className: "gap" }, "…"));
      }
      grid.append(this.#button(node, true));
      openRow = white;
      const variations = parent.children.slice(1);
      if (variations.length > 0) {
        if (white) grid.append(make("span", { className: "gap" }, "…"));
        grid.append(make("div", { className: "variations" }, ...variations.map((variation) => make("p", {}, ...this.#variation(variation)))));
        openRow = false;
      }
    }
    const result = game.headers.get("Result");
    if (result) grid.append(make("p", { className: "result" }, result.replace("1/2-1/2", "½-½")));
    this.#root.replaceChildren(grid);
    this.#current = undefined;
    this.refresh();
  }

  /** A variation as running text, with those that branch off it in brackets. */
  #variation(start: Node): (HTMLElement | string)[] {
    return lineFrom(start).flatMap((node, index) => {
      const parent = node.parent;
      if (!parent) return [];
      const number = index === 0 || parent.position.turn === "white" ? [make("span", { className: "number" }, moveNumber(parent.position))] : [];
      // The first move's own siblings are the caller's business.
      const branches = index === 0 ? [] : parent.children.slice(1).map((sibling) => make("span", { className: "branch" }, ...this.#variation(sibling)));
      return [make("span", { className: "ply" }, ...number, this.#button(node, false)), ...branches];
    });
  }

  #button(node: Node, main: boolean): HTMLButtonElement {
    const button = make("button", { type: "button", tabIndex: -1, "data-testid": main ? "move" : "variation-move" }, make("span", { className: "san" }, node.san));
    if (main) button.append(make("span", { className: "move-score" }));
    button.addEventListener("click", () => this.go(node));
    this.#buttons.set(node, button);
    return button;
  }

  /** Scrolls the list, and only the list, to the current move. */
  #reveal(): void {
    const box = this.#root.getBoundingClientRect();
    const button = this.#current;
    if (!button) {
      this.#root.scrollTop = 0;
      return;
    }
    const at = button.getBoundingClientRect();
    const beyond = at.top < box.top + at.height ? at.top - box.top - at.height : at.bottom > box.bottom - at.height ? at.bottom - box.bottom + at.height : 0;
    if (beyond !== 0) this.#root.scrollBy({ top: beyond, behavior: calm() ? "instant" : "smooth" });
  }
}

function count(root: Node): number {
  let size = 0;
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    size++;
    open.push(...node.children);
  }
  return size;
}
