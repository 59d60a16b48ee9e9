/** The menu of games: famous games, the last opened games, and the list of all opened games. */
import type { Game } from "../game/game";
import { pairing, players } from "../game/identity";
import { lastPlayer, type Player } from "../players/player";
import { byId, make, makeButton } from "../shell/dom";
import { plural } from "../text/words";
import type { GameEntry } from "./game-store";
import type { Library } from "./library";

interface Choices {
  fresh(): void;
  famous(slug: string): void;
  stored(entry: GameEntry): void;
  player(player: Player): void;
  all(): void;
}

export class GameMenu {
  readonly #menu = byId<HTMLSelectElement>("games");
  readonly #offers = byId("offers");
  readonly #lastPlayer = byId("last-player");

  constructor(
    private readonly library: Library,
    private readonly choices: Choices,
  ) {
    this.#lastPlayer.addEventListener("click", () => {
      const player = lastPlayer();
      if (player) choices.player(player);
    });
    this.#menu.addEventListener("change", () => {
      const { value } = this.#menu;
      const entry = library.recent.find(({ id }) => value === `stored-${id}`);
      if (value === "all") choices.all();
      else if (entry) choices.stored(entry);
      else if (value === "" || value === "start") choices.fresh();
      else choices.famous(value);
      // After a choice by mouse the arrow keys step through the game, not through the menu.
      if (!this.#menu.matches(":focus-visible")) this.#menu.blur();
    });
  }

  /** Lists the games and selects the game on the board. */
  show(current: Game): void {
    const { recent, offered } = this.library;
    const selected = current.slug ?? (current.id ? `stored-${current.id}` : "");
    const option = (value: string, text: string) =>
      make("option", { value, selected: value === selected }, text);
    const group = (label: string, options: HTMLElement[]) =>
      options.length > 0 ? [make("optgroup", { label }, ...options)] : [];
    const isListed =
      selected === "" ||
      current.slug !== undefined ||
      recent.some(({ id }) => id === current.id);
    this.#menu.replaceChildren(
      option(current.startsAsUsual ? "" : "start", "Starting position"),
      ...(current.startsAsUsual || selected !== ""
        ? []
        : [option("", "Position from a FEN")]),
      ...(isListed
        ? []
        : [option(selected, players(current.headers) || "This game")]),
      ...group(
        "Famous games",
        offered.map((each) =>
          option(each.slug, `${each.title} · ${each.players}`),
        ),
      ),
      ...group("Opened", [
        ...recent.map((entry) => option(`stored-${entry.id}`, nameOf(entry))),
        ...(recent.length > 0 ? [option("all", "All opened games…")] : []),
      ]),
    );
    if (this.#offers.childElementCount !== offered.length)
      this.#offers.replaceChildren(...this.#buttons());
    const player = lastPlayer();
    this.#lastPlayer.hidden = !player;
    this.#lastPlayer.textContent = player ? `New games of ${player.name}` : "";
  }

  #buttons(): HTMLElement[] {
    return this.library.offered.map((each) => {
      const label = [
        make("span", "title", each.title),
        make("span", "who", each.players),
      ];
      return make(
        "li",
        {},
        makeButton("offer", () => this.choices.famous(each.slug), ...label),
      );
    });
  }
}

/** Returns "Morphy – Isouard, 1858", or the event if the players are unknown. */
export function nameOf({
  white,
  black,
  date,
  event,
  plies,
}: GameEntry): string {
  return (
    pairing(white, black, date) ||
    `${event || "A game"}, ${plural(Math.ceil(plies / 2), "move")}`
  );
}
