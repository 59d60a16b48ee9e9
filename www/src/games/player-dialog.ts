/** The games of a player of Lichess or Chess.com. Loaded when it is first opened. */
import type { Color } from "chessops/types";
import { Latest, loadOnce, reportInputError } from "../loading/loading";
import {
  lastPlayer,
  rememberPlayer,
  enteredPlayer,
  type NamedPlayer,
  outcomeOf,
  type Player,
  sideOf,
  SITES,
} from "../players/player";
import { PlayerGames, openPlayerStore } from "../players/player-games";
import { closeDone, createDialog, showModal } from "../shell/dialog";
import { make } from "../shell/dom";
import { MissingError, type PlayedGame } from "../sites/request";
import { capitalised, InputError, day, plural } from "../text/words";
import { GameList, type GameRow } from "./game-list";

type Open = (game: PlayedGame, side: Color) => void;

let dialog: PlayerDialog | undefined;

/** Shows the games of a player. `open` is called with the selected game and the player's side. */
export async function showPlayer(
  player: NamedPlayer,
  open: Open,
): Promise<void> {
  dialog ??= new PlayerDialog(open);
  await dialog.show(player);
}

class PlayerDialog {
  readonly #list = new GameList<PlayedGame>({
    placeholder: "Opponent, opening, date, won, lost…",
    empty: "",
    id: ({ id }) => id,
    text: (game) => this.#words(game).join(" "),
    row: (game) => this.#row(game),
    open: (game) => {
      closeDone(this.#dialog);
      this.open(game, this.#side(game));
    },
  });
  readonly #name = make("input", {
    type: "text",
    "aria-label": "User name",
    "data-testid": "player-name",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: false,
    maxLength: 100,
  });
  readonly #sites = Object.entries(SITES).map(
    ([site, name]) =>
      [
        site as Player["site"],
        make("input", {
          type: "radio",
          name: "site",
          value: site,
          "data-testid": `player-site-${site}`,
        }),
        name,
      ] as const,
  );
  readonly #status = make("p", {
    className: "quiet",
    role: "status",
    "data-testid": "player-status",
  });
  readonly #errorText = make("p", {
    className: "error",
    role: "alert",
    "data-testid": "player-error",
  });
  readonly #openings = make(
    "a",
    { className: "at-start", "data-testid": "player-openings" },
    "Openings",
  );
  readonly #older = make(
    "button",
    { hidden: true, "data-testid": "player-older" },
    "Older games",
  );
  readonly #dialog: HTMLDialogElement;
  readonly #store = loadOnce(openPlayerStore);
  #player: Player = { site: "lichess", name: "" };
  #games: PlayerGames | undefined;
  /** Aborted when another player is shown, and when the dialog closes. */
  readonly #fetching = new Latest();

  constructor(private readonly open: Open) {
    const form = make(
      "form",
      "player-form",
      this.#name,
      make(
        "fieldset",
        {},
        make("legend", "hidden", "Site"),
        ...this.#sites.map(([, input, name]) => make("label", {}, input, name)),
      ),
      make(
        "button",
        { type: "submit", "data-testid": "player-submit" },
        "Show",
      ),
    );
    this.#dialog = createDialog(
      "player",
      "Games of a player",
      [form, ...this.#list.elements(), this.#errorText],
      [this.#openings, this.#older, this.#status],
      "games",
    );
    this.#dialog.addEventListener("close", () => this.#fetching.abort());
    this.#older.addEventListener(
      "click",
      () =>
        void this.#fetch((games, progress, signal) =>
          games.older(progress, signal),
        ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void reportInputError(
        async () =>
          this.#choose({
            site: this.#chosenSite(),
            ...enteredPlayer(this.#name.value),
          }),
        (message) => this.#complain(message),
      );
    });
    for (const [, input] of this.#sites)
      input.addEventListener("change", () => form.requestSubmit());
  }

  async show({ site, name }: NamedPlayer): Promise<void> {
    const last = lastPlayer();
    showModal(this.#dialog);
    this.#list.search.focus();
    if (site) await this.#choose({ site, name });
    else if (last?.name.toLowerCase() === name.toLowerCase())
      await this.#choose(last);
    else await this.#choose({ site: "lichess", name }, "chess.com");
  }

  /** Shows the stored games of a player, and fetches newer games. If the player is missing there, tries the other site. */
  async #choose(player: Player, other?: Player["site"]): Promise<void> {
    const signal = this.#fetching.begin();
    this.#player = player;
    this.#name.value = player.name;
    this.#openings.href = `./openings.html#${player.site}=${player.name}`;
    for (const [site, input] of this.#sites)
      input.checked = site === player.site;
    this.#list.reset();
    const games = await PlayerGames.open(player, await this.#store());
    if (signal.aborted) return;
    this.#games = games;
    this.#draw();
    const isFound = await this.#fetch(
      (games, progress, signal) => games.update(progress, signal),
      other !== undefined,
    );
    if (isFound === false && other)
      await this.#choose({ ...player, site: other });
  }

  /** Runs a request with progress. Returns whether the player exists; `undefined` if that is unknown. */
  async #fetch(
    work: (
      games: PlayerGames,
      progress: (count: number) => void,
      signal: AbortSignal,
    ) => Promise<void>,
    hasOther = false,
  ): Promise<boolean | undefined> {
    const games = this.#games;
    if (!games) return undefined;
    const signal = this.#fetching.begin();
    const site = SITES[this.#player.site];
    this.#complain("");
    this.#older.hidden = true;
    this.#status.textContent = `Asking ${site}…`;
    try {
      await work(
        games,
        (count) =>
          (this.#status.textContent = `${plural(count, "game")} from ${site}…`),
        signal,
      );
      this.#status.textContent = "Stored only in this browser.";
      rememberPlayer(this.#player);
      return true;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof InputError)) throw error;
      this.#status.textContent = "";
      const isMissing = error instanceof MissingError;
      if (!isMissing || !hasOther) this.#complain(error.message);
      return isMissing ? false : undefined;
    } finally {
      if (games === this.#games && !signal.aborted) this.#draw();
    }
  }

  #draw(): void {
    const { games, isComplete } = this.#games?.known ?? {
      games: [],
      isComplete: false,
    };
    this.#list.set(games);
    this.#older.hidden = isComplete || games.length === 0;
  }

  #complain(message: string): void {
    this.#errorText.textContent = message;
    this.#errorText.hidden = message === "";
  }

  #chosenSite(): Player["site"] {
    return this.#sites.find(([, input]) => input.checked)?.[0] ?? "lichess";
  }

  #side(game: PlayedGame): Color {
    return sideOf(this.#player, game) ?? "white";
  }

  /** Returns the facts of a game: the outcome, the opponent, and the second line. */
  #words(game: PlayedGame): [outcome: string, opponent: string, about: string] {
    const side = this.#side(game);
    const { outcome, opponent } = outcomeOf(game, side);
    const own = game[side].rating;
    const about = [
      capitalised(side),
      ...(own ? [String(own)] : []),
      `${game.speed}${game.isRated ? "" : ", casual"}`,
      day(game.time),
      game.opening,
    ];
    return [outcome, opponent, about.filter(Boolean).join(" · ")];
  }

  #row(game: PlayedGame): GameRow {
    const [outcome, opponent, about] = this.#words(game);
    return {
      content: [
        make(
          "span",
          "stored-title",
          make("span", `game-outcome ${outcome.toLowerCase()}`, outcome),
          ` against ${opponent}`,
        ),
        make("span", "stored-about", about),
      ],
    };
  }
}
