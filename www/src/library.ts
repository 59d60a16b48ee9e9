/** The games at hand: famous ones and those opened from text; the menu that lists them. */
import { byId, make } from "./dom";
import { famous } from "./famous";
import { Game } from "./game";
import { format } from "./link";
import { players } from "./names";

/** All games that can be put on the board. */
export class Library {
  readonly #menu = byId<HTMLSelectElement>("games");
  /** Games opened from text, oldest first. */
  readonly #opened: Game[] = [];
  /** Famous games that were loaded: they keep the moves that were tried in them. */
  readonly #loaded = new Map<string, Game>();

  /** `pick` gets the game that a person chose. */
  constructor(private readonly pick: (game: Game) => void) {
    this.#menu.addEventListener("change", () => {
      const { value } = this.#menu;
      const index = /^opened-(\d+)$/.exec(value)?.[1];
      const game = index ? this.#opened[Number(index)] : value ? this.famous(value) : new Game();
      if (game) pick(game);
      // After a mouse's choice the arrow keys should step through the game, not through the menu.
      if (!this.#menu.matches(":focus-visible")) this.#menu.blur();
    });
  }

  /** The famous game of this name. */
  famous(slug: string): Game | undefined {
    const game = this.#loaded.get(slug) ?? famous.find((each) => each.slug === slug)?.load();
    if (game) this.#loaded.set(slug, game);
    return game;
  }

  /** Adds games opened from text. */
  add(...games: Game[]): void {
    this.#opened.push(...games);
  }

  /** The opened game with the same position and moves, which knows names and variations that a link does not. */
  like(game: Game): Game | undefined {
    const whole = format(game, game.root);
    return this.#opened.find((each) => format(each, each.root) === whole);
  }

  /** Lists the games, with the one on the board chosen. */
  show(current: Game): void {
    const chosen = current.slug ?? (this.#opened.includes(current) ? `opened-${this.#opened.indexOf(current)}` : "");
    const option = (value: string, text: string) => make("option", { value, selected: value === chosen }, text);
    const group = (label: string, options: HTMLElement[]) => (options.length > 0 ? [make("optgroup", { label }, ...options)] : []);
    this.#menu.replaceChildren(
      option("", "Starting position"),
      ...group("Famous games", famous.map((each) => option(each.slug, `${each.title} · ${each.players}`))),
      ...group("Opened", this.#opened.map((each, index) => option(`opened-${index}`, nameOf(each, index)))),
    );
  }

  /** What stands in place of moves before there are any. */
  offers(): HTMLElement {
    const offers = famous.map((each) => {
      const label = [make("span", { className: "title" }, each.title), make("span", { className: "who" }, each.players)];
      const button = make("button", { type: "button", "data-testid": "offer" }, ...label);
      button.addEventListener("click", () => {
        const game = this.famous(each.slug);
        if (game) this.pick(game);
      });
      return make("li", {}, button);
    });
    return make("div", {}, make("p", { className: "quiet" }, "Play a move, or step through a famous game:"), make("ul", { className: "offers" }, ...offers));
  }
}

const nameOf = (game: Game, index: number): string => players(game.headers) || `${game.sourcePlies === 0 ? "Position" : "Game"} ${index + 1}`;
