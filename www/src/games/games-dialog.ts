/** The list of all opened games, with a search. Loaded when it is first opened. */
import { plural } from "../text/words";
import { closeDone, createDialog, showModal } from "../shell/dialog";
import { make, makeButton } from "../shell/dom";
import type { Library } from "./library";
import { GameList, type GameRow } from "./game-list";
import { nameOf } from "./game-menu";
import type { GameEntry } from "./game-store";

let dialog: GamesDialog | undefined;

/** Shows the list. `open` is called with the selected game. */
export async function showGames(
  library: Library,
  open: (entry: GameEntry) => void,
): Promise<void> {
  dialog ??= new GamesDialog(library, open);
  await dialog.show();
}

class GamesDialog {
  readonly #list = new GameList<GameEntry>({
    placeholder: "Players, event, opening, year…",
    empty: "No games yet. Games that you open are listed here.",
    id: ({ id }) => id,
    text: (entry) =>
      [
        entry.white,
        entry.black,
        entry.event,
        entry.opening,
        entry.date,
        entry.date.replaceAll(".", "-"),
        entry.result,
      ].join(" "),
    row: (entry) => this.#row(entry),
    open: (entry) => {
      closeDone(this.#dialog);
      this.open(entry);
    },
    remove: (entry) => void this.#remove(entry),
  });
  readonly #clear = make(
    "button",
    { "data-testid": "games-clear" },
    "Remove all",
  );
  readonly #remark = make(
    "p",
    "quiet",
    "The games are stored only in this browser.",
  );
  readonly #dialog: HTMLDialogElement;

  constructor(
    private readonly library: Library,
    private readonly open: (entry: GameEntry) => void,
  ) {
    this.#dialog = createDialog(
      "games",
      "Games that you opened",
      [...this.#list.elements(), this.#remark],
      [this.#clear],
      "games",
    );
    this.#clear.addEventListener("click", () => void this.#removeAll());
    this.#clear.addEventListener("blur", () => this.#ask(false));
    // A game that was just opened is stored while the list is shown.
    library.addEventListener(
      "change",
      () => this.#dialog.open && void this.#load(),
    );
  }

  async show(): Promise<void> {
    this.#list.reset();
    await this.#load();
    showModal(this.#dialog);
    this.#list.search.focus();
  }

  async #load(): Promise<void> {
    const store = await this.library.store();
    const entries = await store.list();
    const isChanged = entries.length !== this.#list.size;
    this.#list.set(entries);
    this.#clear.hidden = entries.length === 0;
    if (isChanged) this.#ask(false);
  }

  #row(entry: GameEntry): GameRow {
    const { event, date, opening, plies, result } = entry;
    const when = date.replaceAll(".??", "").replaceAll(".", "-");
    const about = [event, when, opening, plural(Math.ceil(plies / 2), "move")]
      .filter(Boolean)
      .join(" · ");
    const name = nameOf(entry);
    const remove = makeButton(
      {
        className: "stored-remove",
        "aria-label": `Remove ${name}`,
        title: "Remove (Delete)",
        "data-testid": "remove-game",
      },
      () => void this.#remove(entry),
      "×",
    );
    return {
      content: [
        make(
          "span",
          "stored-title",
          make(
            "span",
            {},
            [entry.white, entry.black].some(Boolean)
              ? `${entry.white || "?"} – ${entry.black || "?"}`
              : name,
          ),
          ...(result
            ? [
                make(
                  "span",
                  "stored-result",
                  ` ${result.replace("1/2-1/2", "½-½")}`,
                ),
              ]
            : []),
        ),
        make("span", "stored-about", about),
      ],
      after: [remove],
    };
  }

  async #remove(entry: GameEntry): Promise<void> {
    await (await this.library.store()).remove(entry.id);
    await this.library.refresh();
  }

  /** Asks for confirmation before all games are removed. */
  async #removeAll(): Promise<void> {
    if (!this.#clear.classList.contains("sure")) {
      this.#ask(true);
      return;
    }
    await (await this.library.store()).clear();
    this.#list.search.focus();
    await this.library.refresh();
  }

  #ask(sure: boolean): void {
    this.#clear.classList.toggle("sure", sure);
    this.#clear.textContent = sure
      ? `Really remove all ${this.#list.size.toLocaleString("en")}?`
      : "Remove all";
  }
}
