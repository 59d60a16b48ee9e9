/** The menu of games: famous ones, those opened last, and the way to all that were opened. */
import { plural } from "../text/units";
import { byId, make } from "../shell/dom";
import type { Game } from "../game/game";
import type { Library } from "./library";
import { players, surname, year } from "../game/player-names";
import type { Entry } from "./game-store";

/** What a person may choose. */
export interface Choices {
  /** The starting position. */
  fresh(): void;
  famous(slug: string): void;
  /** A stored game. */
  stored(entry: Entry): void;
  /** The list of all stored games. */
  all(): void;
}

/** The menu at the head of the page. */
export class GameMenu {
  readonly #menu = byId<HTMLSelectElement>("games");
  readonly #offers = make("ul", { className: "offers" });

  constructor(
    private readonly library: Library,
    private readonly choices: Choices,
  ) {
    this.#menu.addEventListener("change", () => {
      const { value } = this.#menu;
      const entry = library.recent.find(({ id }) => value === `stored-${id}`);
      if (value === "all") choices.all();
      else if (entry) choices.stored(entry);
      else if (value) choices.famous(value);
      else choices.fresh();
      // After a mouse's choice the arrow keys should step through the game, not through the menu.
      if (!this.#menu.matches(":focus-visible")) this.#menu.blur();
    });
  }

  /** Lists the games, with the one on the board chosen. */
  show(current: Game): void {
    const { recent, offered } = this.library;
    const chosen = current.slug ?? (current.id ? `stored-${current.id}` : "");
    const option = (value: string, text: string) => make("option", { value, selected: value === chosen }, text);
    const group = (label: string, options: HTMLElement[]) => (options.length > 0 ? [make("optgroup", { label }, ...options)] : []);
    const isListed = chosen === "" || current.slug !== undefined || recent.some(({ id }) => id === current.id);
    this.#menu.replaceChildren(
      option("", "Starting position"),
      ...(isListed ? [] : [option(chosen, players(current.headers) || "This game")]),
      ...group("Famous games", offered.map((each) => option(each.slug, `${each.title} · ${each.players}`))),
      ...group("Opened", [...recent.map((entry) => option(`stored-${entry.id}`, nameOf(entry))), ...(recent.length > 0 ? [option("all", "All opened games…")] : [])]),
    );
    if (this.#offers.childElementCount !== offered.length) this.#offers.replaceChildren(...this.#buttons());
  }

  /** What stands in place of moves before there are any. */
  offers(): HTMLElement {
    return make("div", {}, make("p", { className: "quiet" }, "Play a move, or step through a famous game:"), this.#offers);
  }

  #buttons(): HTMLElement[] {
    return this.library.offered.map((each) => {
      const label = [make("span", { className: "title" }, each.title), make("span", { className: "who" }, each.players)];
      const button = make("button", { type: "button", "data-testid": "offer" }, ...label);
      button.addEventListener("click", () => this.choices.famous(each.slug));
      return make("li", {}, button);
    });
  }
}

/** "Morphy – Isouard, 1858", or what else is known. */
export function nameOf({ white, black, date, event, plies }: Entry): string {
  const when = year(date);
  if (white || black) return `${surname(white || "?")} – ${surname(black || "?")}${when && `, ${when}`}`;
  return [event || "A game", plural(Math.ceil(plies / 2), "move")].join(", ");
}
