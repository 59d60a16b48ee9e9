/** A list of games with a search. Arrow keys move between its rows. */
import { make, makeButton } from "../shell/dom";
import { plural } from "../text/words";

/** Number of rows that are drawn at once. */
const PAGE = 200;

export interface GameRow {
  content: Node[];
  /** Elements after the row's button. */
  after?: HTMLElement[];
}

interface GameListOptions<T> {
  /** Text of the empty search field. */
  placeholder: string;
  /** Text instead of the number of games if there are no games. */
  empty: string;
  /** Identifier of a game in the list. */
  id(entry: T): string;
  /** Text in which the search looks for words. */
  text(entry: T): string;
  row(entry: T): GameRow;
  open(entry: T): void;
  remove?(entry: T): void;
  /** Names of filters, and the games that they show. */
  filters?: readonly (readonly [name: string, (entry: T) => boolean])[];
}

export class GameList<T extends object> {
  readonly search: HTMLInputElement;
  readonly #count = make("p", {
    className: "stored-count",
    role: "status",
    "data-testid": "games-count",
  });
  readonly #list = make("ul", {
    className: "stored-games",
    "aria-label": "Games",
    "data-testid": "games-list",
  });
  readonly #more = make("button", {}, "Show more");
  readonly #texts = new WeakMap<T, string>();
  readonly #filter = make("select", {
    "aria-label": "Which games",
    "data-testid": "games-filter",
  });
  #entries: readonly T[] = [];
  #drawn: readonly T[] = [];
  #shown = PAGE;

  constructor(private readonly options: GameListOptions<T>) {
    const { placeholder } = options;
    this.search = make("input", {
      type: "search",
      placeholder,
      "aria-label": "Search the games",
      "data-testid": "games-search",
      autocomplete: "off",
    });
    this.#filter.append(
      ...(options.filters ?? []).map(([name], at) =>
        make("option", { value: String(at) }, name),
      ),
    );
    this.#filter.hidden = !options.filters;
    for (const field of [this.search, this.#filter])
      field.addEventListener("input", () => {
        this.#shown = PAGE;
        this.#draw();
      });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.#rows()[0]?.focus();
    });
    this.#more.addEventListener("click", () => {
      const before = this.#shown;
      this.#shown += PAGE;
      this.#draw();
      this.#rows()[before]?.focus();
    });
    this.#list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The field with the filter, the number of games, the rows, and the button for more rows. */
  elements(): HTMLElement[] {
    const field = make("div", "games-field", this.search, this.#filter);
    return [field, this.#count, this.#list, this.#more];
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Clears the search. */
  reset(): void {
    this.search.value = "";
    this.#filter.value = "0";
    this.#shown = PAGE;
  }

  /** Replaces the games. */
  set(entries: readonly T[]): void {
    this.#entries = entries;
    // The first search then need not read all games.
    for (const entry of entries) this.#text(entry);
    this.#draw();
  }

  /** Draws the list. The focus stays on its game, or moves to the next game if that game was removed. */
  #draw(): void {
    const focused = [...this.#list.children].findIndex((row) =>
      row.contains(document.activeElement),
    );
    const game = this.#list.children[focused]?.getAttribute("data-id");
    const words = folded(this.search.value).split(/\s+/).filter(Boolean);
    const filter = Number(this.#filter.value);
    const isShown = this.options.filters?.[filter]?.[1] ?? (() => true);
    const found = this.#entries.filter(
      (entry) =>
        isShown(entry) &&
        words.every((word) => this.#text(entry).includes(word)),
    );
    const all = plural(this.#entries.length, "game");
    this.#count.textContent =
      this.#entries.length === 0
        ? this.options.empty
        : words.length + filter > 0
          ? `${found.length.toLocaleString("en")} of ${all}`
          : all;
    this.#more.hidden = found.length <= this.#shown;
    const rows = found.slice(0, this.#shown);
    // Rows that stay are not replaced, so that a click is not lost while games are added.
    if (
      rows.length === this.#drawn.length &&
      rows.every((entry, at) => entry === this.#drawn[at])
    )
      return;
    this.#drawn = rows;
    this.#list.replaceChildren(...rows.map((entry) => this.#row(entry)));
    if (focused < 0) return;
    const buttons = this.#rows();
    (
      buttons.find((row) => row.closest("li")?.dataset.id === game) ??
      buttons[Math.min(focused, buttons.length - 1)] ??
      this.search
    ).focus();
  }

  #row(entry: T): HTMLElement {
    const { content, after = [] } = this.options.row(entry);
    const button = makeButton(
      { className: "stored-game", "data-testid": "stored-game" },
      () => this.options.open(entry),
      ...content,
    );
    return make("li", { "data-id": this.options.id(entry) }, button, ...after);
  }

  #text(entry: T): string {
    let text = this.#texts.get(entry);
    if (text === undefined) {
      text = folded(this.options.text(entry));
      this.#texts.set(entry, text);
    }
    return text;
  }

  /** Handles keys: arrows move between rows, Delete removes the focused row. */
  #key(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest("li");
    if (!row) return;
    const rows = this.#rows();
    const at = [...this.#list.children].indexOf(row);
    if (event.key === "Delete") {
      const entry = this.#entries.find(
        (entry) => this.options.id(entry) === row.dataset.id,
      );
      if (entry) this.options.remove?.(entry);
    } else {
      const step = {
        ArrowDown: 1,
        ArrowUp: -1,
        PageDown: 10,
        PageUp: -10,
        Home: -rows.length,
        End: rows.length,
      }[event.key];
      if (step === undefined) return;
      if (step === -1 && at === 0) this.search.focus();
      else rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
    }
    event.preventDefault();
  }

  #rows(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>("button.stored-game")];
  }
}

/** Returns the text without accents, in lower case, for searches. */
export const folded = (text: string): string =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
