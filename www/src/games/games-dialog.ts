/** The list of all opened games, with a search. Loaded when it is first opened. */
import "../style/games.css";
import { plural } from "../text/units";
import { closeDone, showModal } from "../shell/dialog";
import { make } from "../shell/dom";
import type { Library } from "./library";
import { nameOf } from "./game-menu";
import type { Entry } from "./game-store";

/** Number of rows that are drawn at once. */
const PAGE = 200;

let dialog: GamesDialog | undefined;

/** Shows the list. `open` is called with the selected game. */
export async function showGames(library: Library, open: (entry: Entry) => void): Promise<void> {
  dialog ??= new GamesDialog(library, open);
  await dialog.show();
}

class GamesDialog {
  readonly #search = make("input", { type: "search", placeholder: "Players, event, opening, year…", "aria-label": "Search the games", "data-testid": "games-search", autocomplete: "off" });
  readonly #count = make("p", { className: "stored-count", role: "status", "data-testid": "games-count" });
  readonly #list = make("ul", { className: "stored-games", "aria-label": "Games", "data-testid": "games-list" });
  readonly #more = make("button", { type: "button" }, "Show more");
  readonly #clear = make("button", { type: "button", "data-testid": "games-clear" }, "Remove all");
  readonly #remark = make("p", { className: "quiet" });
  readonly #dialog: HTMLDialogElement;
  #entries: Entry[] = [];
  #shown = PAGE;

  constructor(
    private readonly library: Library,
    private readonly open: (entry: Entry) => void,
  ) {
    const close = make("button", { type: "button", className: "primary", "data-testid": "games-close" }, "Close");
    this.#dialog = make(
      "dialog",
      { className: "games", "data-testid": "games-dialog", "aria-labelledby": "games-title" },
      make("h2", { id: "games-title" }, "Games that you opened"),
      this.#search,
      this.#count,
      this.#list,
      this.#more,
      this.#remark,
      make("div", { className: "actions" }, this.#clear, close),
    );
    document.body.append(this.#dialog);
    close.addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.#search.addEventListener("input", () => {
      this.#shown = PAGE;
      this.#draw();
    });
    this.#search.addEventListener("keydown", (event) => {
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
    this.#clear.addEventListener("click", () => void this.#removeAll());
    this.#clear.addEventListener("blur", () => this.#ask(false));
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    // A game that was just opened is stored while the list is shown.
    library.addEventListener("change", () => this.#dialog.open && void this.#load());
  }

  async show(): Promise<void> {
    this.#search.value = "";
    this.#shown = PAGE;
    await this.#load();
    showModal(this.#dialog);
    this.#search.focus();
  }

  async #load(): Promise<void> {
    const store = await this.library.store();
    const count = this.#entries.length;
    this.#entries = await store.list();
    this.#remark.textContent = store.isLasting
      ? "The games are stored only in this browser."
      : "This browser does not store data for this page: the list is lost when you close it.";
    if (this.#entries.length !== count) this.#ask(false);
    this.#draw();
  }

  /** Draws the list. The focus stays on its game, or moves to the next game if that game was removed. */
  #draw(): void {
    const focused = [...this.#list.children].findIndex((row) => row.contains(document.activeElement));
    const game = this.#list.children[focused]?.getAttribute("data-id");
    const words = folded(this.#search.value).split(/\s+/).filter(Boolean);
    const found = this.#entries.filter((entry) => {
      const text = searchable(entry);
      return words.every((word) => text.includes(word));
    });
    const total = this.#entries.length.toLocaleString("en");
    this.#count.textContent =
      this.#entries.length === 0 ? "No games yet. Games that you open are listed here." : words.length > 0 ? `${found.length.toLocaleString("en")} of ${total} games` : `${total} ${this.#entries.length === 1 ? "game" : "games"}`;
    this.#list.replaceChildren(...found.slice(0, this.#shown).map((entry) => this.#row(entry)));
    this.#more.hidden = found.length <= this.#shown;
    this.#clear.hidden = this.#entries.length === 0;
    if (focused < 0) return;
    const rows = this.#rows();
    (rows.find((row) => row.closest("li")?.dataset.id === game) ?? rows[Math.min(focused, rows.length - 1)] ?? this.#search).focus();
  }

  #row(entry: Entry): HTMLElement {
    const { event, date, opening, plies, result } = entry;
    const when = date.replaceAll(".??", "").replaceAll(".", "-");
    const about = [event, when, opening, plural(Math.ceil(plies / 2), "move")].filter(Boolean).join(" · ");
    const name = nameOf(entry);
    const button = make(
      "button",
      { type: "button", className: "stored-game", "data-testid": "stored-game" },
      make("span", { className: "stored-title" }, make("span", {}, [entry.white, entry.black].some(Boolean) ? `${entry.white || "?"} – ${entry.black || "?"}` : name), ...(result ? [make("span", { className: "stored-result" }, ` ${result.replace("1/2-1/2", "½-½")}`)] : [])),
      make("span", { className: "stored-about" }, about),
    );
    button.addEventListener("click", () => {
      closeDone(this.#dialog);
      this.open(entry);
    });
    const remove = make("button", { type: "button", className: "stored-remove", "aria-label": `Remove ${name}`, title: "Remove (Delete)", "data-testid": "remove-game" }, "×");
    remove.addEventListener("click", () => void this.#remove(entry));
    return make("li", { "data-id": entry.id }, button, remove);
  }

  /** Handles keys: arrows move between rows, Delete removes the focused row. */
  #key(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest("li");
    if (!row) return;
    const rows = this.#rows();
    const at = [...this.#list.children].indexOf(row);
    if (event.key === "Delete") {
      const entry = this.#entries.find(({ id }) => id === row.dataset.id);
      if (entry) void this.#remove(entry);
    } else {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -rows.length, End: rows.length }[event.key];
      if (step === undefined) return;
      if (step === -1 && at === 0) this.#search.focus();
      else rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
    }
    event.preventDefault();
  }

  async #remove(entry: Entry): Promise<void> {
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
    this.#search.focus();
    await this.library.refresh();
  }

  #ask(sure: boolean): void {
    this.#clear.classList.toggle("sure", sure);
    this.#clear.textContent = sure ? `Really remove all ${this.#entries.length.toLocaleString("en")}?` : "Remove all";
  }

  #rows(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>("button.stored-game")];
  }
}

/** Returns the text without accents, in lower case. */
const folded = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const texts = new WeakMap<Entry, string>();

function searchable(entry: Entry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    text = folded([entry.white, entry.black, entry.event, entry.opening, entry.date, entry.date.replaceAll(".", "-"), entry.result].join(" "));
    texts.set(entry, text);
  }
  return text;
}
