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
        entry.summary,
      ].join(" "),
    filters: [
      ["All games", () => true],
      ["White won", ({ result }) => result === "1-0"],
      ["Black won", ({ result }) => result === "0-1"],
      ["Draws", ({ result }) => result.startsWith("1/2")],
      ["With a report", ({ summary }) => summary !== undefined],
      ["From Lichess", ({ source }) => source?.startsWith("lichess") === true],
    ],
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
  readonly #remark = make("p", "quiet");
  readonly #dialog: HTMLDialogElement;
  #stored: readonly GameEntry[] = [];

  constructor(
    private readonly library: Library,
    private readonly open: (entry: GameEntry) => void,
  ) {
    this.#dialog = createDialog(
      "games",
      "Games",
      [...this.#list.elements(), this.#remark],
      [this.#clear],
      "games table",
    );
    this.#clear.addEventListener("click", () => void this.#removeAll());
    this.#clear.addEventListener("blur", () => this.#ask(false));
    // A game that was just opened is stored while the list is shown.
    library.addEventListener(
      "change",
      () => this.#dialog.open && void this.#load(),
    );
    library.addEventListener("held", () => this.#dialog.open && this.#draw());
  }

  async show(): Promise<void> {
    this.#list.reset();
    await this.#load();
    showModal(this.#dialog);
    this.#list.search.focus();
  }

  async #load(): Promise<void> {
    const store = await this.library.store();
    this.#stored = await store.list();
    this.#draw();
  }

  #draw(): void {
    const entries = this.library.withHeld(this.#stored);
    const isChanged = entries.length !== this.#list.size;
    this.#list.set(entries);
    this.#remark.textContent =
      this.library.fileRemark || "The games are stored only in this browser.";
    this.#clear.hidden = entries.length === 0;
    if (isChanged) this.#ask(false);
  }

  #row(entry: GameEntry): GameRow {
    const { event, date, opening, plies, result, summary } = entry;
    const when = date.replaceAll(".??", "").replaceAll(".", "-");
    const length = plies > 0 ? plural(Math.ceil(plies / 2), "move") : "";
    const about = [when, event, opening, length].filter(Boolean).join(" · ");
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
            ? [make("span", "stored-result", result.replace("1/2-1/2", "½-½"))]
            : []),
        ),
        make("span", "stored-about", about),
        ...(summary
          ? [make("span", "stored-about stored-report", summary)]
          : []),
      ],
      after: [remove],
    };
  }

  async #remove(entry: GameEntry): Promise<void> {
    await this.library.remove(entry.id);
  }

  /** Asks for confirmation before all games are removed. */
  async #removeAll(): Promise<void> {
    if (!this.#clear.classList.contains("sure")) {
      this.#ask(true);
      return;
    }
    this.#list.search.focus();
    await this.library.remove();
  }

  #ask(sure: boolean): void {
    this.#clear.classList.toggle("sure", sure);
    this.#clear.textContent = sure
      ? `Really remove all ${this.#list.size.toLocaleString("en")}?`
      : "Remove all";
  }
}
