// A game to step through, on any page: <shelfish-game pgn="1. e4 e5 …" database="https://example.org/evals/">.

import { Board } from "./game/board.js";
import { draw, make } from "./game/dom.js";
import { Graph } from "./game/graph.js";
import { fromFen, fromPgn, type Known, type Line } from "./game/line.js";
import { standing, written } from "./game/score.js";
import { evaluate } from "./game/shared.js";
import { STYLE } from "./game/style.js";
import type { openDatabase } from "./index.js";

/** What the event `ply` tells: the position that is shown now. */
export interface PlyDetail {
  /** Half-moves from the start. */
  ply: number;
  /** The position: the first four fields of FEN. */
  fen: string;
  /** The move that led to it; empty at the start. */
  san: string;
  /** The same in UCI. */
  uci: string;
  /** What is known of the position, White's point of view; `null` if nothing is. */
  score: { cp?: number | undefined; mate?: number | undefined; depth?: number | undefined } | null;
}

/** Attributes of the element, as templates write them. */
export interface ShelfishGameAttributes {
  /** A PGN, of which the main line of the first game is shown. The text inside of the element serves as well. */
  pgn?: string;
  /** The URL of a PGN, read when the element comes into view. */
  src?: string;
  /** A position, if there is no PGN. */
  fen?: string;
  /** The URL of a database: its manifest, or its folder with a slash at the end. Without one, scores are those of the PGN. */
  database?: string;
  /** The ply that is shown: half-moves from the start; beyond the end is the end. */
  ply?: number | string;
  /** The side below: `white` (default) or `black`. */
  orientation?: "white" | "black";
  /** `light`, `dark`, or as the reader's system has it (default). */
  theme?: "light" | "dark" | "auto";
}

/** The events of the element, by name. */
export interface ShelfishGameEventMap extends HTMLElementEventMap {
  /** Another position is shown, or more is known of it. */
  ply: CustomEvent<PlyDetail>;
  /** Something cannot be read: what, and what was expected. */
  fault: CustomEvent<string>;
}

/** In Node, where pages are rendered beforehand, there are no elements. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

const ICONS = [
  ["first", "First position", "M6 6v12M18 6l-8 6 8 6Z"],
  ["previous", "Previous move", "m16 6-8 6 8 6Z"],
  ["next", "Next move", "m8 6 8 6-8 6Z"],
  ["last", "Last position", "m6 6 8 6-8 6ZM18 6v12"],
  ["flip", "Flip the board", "M8 4v15m0 0-3.5-3.5M8 19l3.5-3.5M16 20V5m0 0-3.5 3.5M16 5l3.5 3.5"],
] as const;

/** The most characters of a PGN that is read from elsewhere. */
const MOST = 1 << 20;

/** The text of an answer; `undefined`, and the rest is not fetched, if it has more characters than that. */
async function read(response: Response, most: number): Promise<string | undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const { done = true, value } = (await reader?.read()) ?? {};
    text += decoder.decode(value, { stream: !done });
    if (text.length > most) return void (await reader?.cancel());
    if (done) return text;
  }
}

let sheet: CSSStyleSheet | undefined;

/**
 * `<shelfish-game>`: a board, the moves, and what a database says of them.
 *
 * Attributes are those of {@link ShelfishGameAttributes}. Events, neither of which can be cancelled: `ply` (a
 * `CustomEvent` with {@link PlyDetail}) when another position is shown, `fault` (with a `string`) when something cannot be
 * read. Parts: `game`, `board`, `bar`, `score`, `facts`, `graph`, `moves`, `move`, `comment`, `controls`, `player`. Custom
 * properties: `--shelfish-` with `accent`, `wash`, `paper`, `raised`, `edge`, `ink`, `soft`, `light-square`, `dark-square`,
 * `font`, `radius`.
 */
export class ShelfishGame extends Base {
  /** What opens databases, if not `openDatabase` of `shelfish`: that of `shelfish/inline`, or one with options. */
  static openDatabase: typeof openDatabase | undefined;

  static readonly observedAttributes = ["pgn", "src", "fen", "database", "ply", "orientation"];

  #root: ShadowRoot | undefined;
  #line: Line = { plies: [], headers: new Map() };
  /** What is known at each ply; `null` where the database has nothing. */
  #known: (Known | null | undefined)[] = [];
  #ply = 0;
  #isFlipped = false;
  #isSeen = false;
  #work = new AbortController();
  #leave = () => {};
  /** How far the question to the database has come. */
  #state: "open" | "asked" | "answered" = "open";
  #fault = "";
  #changed = new Set<string>();

  #board!: Board;
  #graph!: Graph;
  #game!: HTMLElement;
  #bar!: HTMLElement;
  #score!: HTMLElement;
  #facts!: HTMLElement;
  #moves!: HTMLElement;
  #comment!: HTMLElement;
  #faults!: HTMLElement;
  #said!: HTMLElement;
  #players!: readonly [above: HTMLElement, below: HTMLElement];
  #buttons!: Map<string, HTMLButtonElement>;

  /** The ply that is shown. */
  get ply(): number {
    return this.#ply;
  }

  set ply(ply: number) {
    this.#go(ply);
  }

  /** How many plies the game has. */
  get plies(): number {
    return Math.max(0, this.#line.plies.length - 1);
  }

  get pgn(): string {
    return this.getAttribute("pgn") ?? this.textContent?.trim() ?? "";
  }

  set pgn(pgn: string) {
    this.setAttribute("pgn", pgn);
  }

  /** The database's URL. */
  get database(): string | null {
    return this.getAttribute("database");
  }

  set database(url: string | null) {
    if (url === null) this.removeAttribute("database");
    else this.setAttribute("database", url);
  }

  /** The side below. */
  get orientation(): "white" | "black" {
    return this.#isFlipped ? "black" : "white";
  }

  set orientation(side: "white" | "black") {
    this.setAttribute("orientation", side);
  }

  /** @internal */
  connectedCallback(): void {
    this.#root ??= this.#build();
    this.#isSeen = false;
    this.#isFlipped = this.getAttribute("orientation") === "black";
    this.#read();
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watcher.disconnect();
      this.#isSeen = true;
      void this.#load();
    }, { rootMargin: "200px" });
    watcher.observe(this);
    // A PGN inside of the element may come after its start.
    const reader = new MutationObserver(() => {
      if (this.hasAttribute("pgn")) return;
      this.#read();
      if (this.#isSeen) void this.#load();
    });
    reader.observe(this, { childList: true, characterData: true, subtree: true });
    this.#leave = () => [watcher, reader].forEach((observer) => observer.disconnect());
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#leave();
    this.#work.abort();
    this.#work = new AbortController();
  }

  /** @internal */
  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (!this.#root || !this.isConnected || before === after) return;
    if (name === "ply") return this.#go(Number(after) || 0);
    // Several that change at a time are one change.
    if (this.#changed.size === 0) queueMicrotask(() => this.#renew());
    this.#changed.add(name);
  }

  #renew(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    if (!this.isConnected) return;
    if (changed.delete("orientation")) {
      this.#isFlipped = this.getAttribute("orientation") === "black";
      this.#show();
    }
    if (changed.size === 0) return;
    if (["pgn", "src", "fen"].some((name) => changed.has(name))) this.#read();
    if (this.#isSeen) void this.#load();
  }

  #build(): ShadowRoot {
    const root = this.attachShadow({ mode: "open" });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    root.adoptedStyleSheets = [sheet];
    this.#board = new Board();
    this.#graph = new Graph((ply) => this.#go(ply));
    this.#bar = make("div", { class: "bar", part: "bar", "aria-hidden": "true" }, make("div"));
    this.#score = make("span", { class: "score", part: "score" });
    this.#facts = make("span", { class: "facts", part: "facts" });
    this.#moves = make("div", { class: "moves", part: "moves", role: "group", "aria-label": "Moves" });
    this.#comment = make("p", { class: "comment", part: "comment", hidden: "" });
    this.#faults = make("p", { class: "fault", role: "alert", hidden: "" });
    this.#said = make("p", { class: "said", role: "status" });
    this.#players = [make("p", { class: "player above", part: "player" }), make("p", { class: "player below", part: "player" })];
    const buttons = ICONS.map(([name, label, d]) => {
      const button = make("button", { type: "button", "aria-label": label, title: label }, draw(["svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, ["path", { d }]]));
      button.addEventListener("click", () => this.#act(name));
      return [name, button] as const;
    });
    this.#buttons = new Map(buttons);
    const place = make("div", { class: "place" }, this.#board.element);
    this.#listen(place);
    this.#game = make(
      "div",
      { class: "game", part: "game", role: "group", "aria-label": "Chess game" },
      make("div", { class: "stage" }, this.#players[0], this.#bar, place, this.#players[1]),
      make("div", { class: "verdict" }, this.#score, this.#facts),
      this.#graph.element,
      this.#moves,
      make("div", { class: "controls", part: "controls" }, this.#comment, this.#faults, make("div", { class: "buttons" }, ...buttons.map(([, button]) => button))),
      this.#said,
    );
    this.#game.addEventListener("keydown", (event) => this.#key(event));
    this.#moves.addEventListener("click", ({ target }) => {
      const ply = (target as Element).closest("button")?.dataset.ply;
      if (ply !== undefined) this.#go(Number(ply));
    });
    root.append(this.#game);
    return root;
  }

  /** On the board the right half is a step on, the left half one back, and so is a swipe. */
  #listen(place: HTMLElement): void {
    let from: PointerEvent | undefined;
    place.addEventListener("pointerdown", (event) => (from = event));
    place.addEventListener("pointerup", ({ clientX }) => {
      if (!from || from.button !== 0) return;
      const { left, width } = place.getBoundingClientRect();
      const swiped = clientX - from.clientX;
      const isOn = Math.abs(swiped) > 24 ? swiped < 0 : clientX - left > width / 2;
      from = undefined;
      this.#act(isOn ? "next" : "previous");
    });
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const action = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", f: "flip" }[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    this.#act(action);
  }

  #act(action: string): void {
    if (action === "flip") {
      this.#isFlipped = !this.#isFlipped;
      this.#show();
    } else this.#go({ first: 0, previous: this.#ply - 1, next: this.#ply + 1, last: Infinity }[action] ?? 0);
  }

  /** Reads what the page gives by itself. */
  #read(): void {
    const { pgn } = this;
    const fen = this.getAttribute("fen");
    const start = { plies: fromFen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").plies, headers: new Map<string, string>() };
    this.#take(pgn ? fromPgn(pgn) : fen ? fromFen(fen) : start);
  }

  #take(line: Line): void {
    this.#line = line;
    this.#fault = "";
    this.#state = "open";
    this.#known = line.plies.map(({ given }) => given);
    if (line.fault) this.#fail(line.fault);
    this.#list();
    this.#ply = -1;
    this.#go(Number(this.getAttribute("ply")) || 0, true);
  }

  /** Reads what is elsewhere, once the element comes into view: the PGN, the evaluations. */
  async #load(): Promise<void> {
    this.#work.abort();
    this.#work = new AbortController();
    const { signal } = this.#work;
    const address = (name: string) => new URL(this.getAttribute(name) ?? "", this.baseURI).href;
    try {
      if (this.hasAttribute("src") && !this.hasAttribute("pgn")) {
        const response = await fetch(address("src"), { signal });
        if (!response.ok) throw new Error(`${address("src")} was answered with status ${response.status}`);
        const text = await read(response, MOST);
        if (text === undefined) throw new Error(`${address("src")} has more than ${MOST} characters`);
        if (signal.aborted) return;
        this.#take(fromPgn(text));
      }
      if (!this.hasAttribute("database")) return;
      const line = this.#line;
      this.#state = "asked";
      this.#show();
      const opener = async () => ShelfishGame.openDatabase ?? (await import("./index.js")).openDatabase;
      const found = await evaluate(address("database"), line.plies.map(({ fen }) => fen), opener, signal);
      if (signal.aborted || line !== this.#line) return;
      this.#known = line.plies.map(({ given }, ply) => found[ply] || given || found[ply]);
      this.#state = "answered";
      this.#list();
      this.#show();
      this.#tell();
    } catch (error) {
      if (signal.aborted) return;
      this.#state = "open";
      this.#fail((error as Error).message);
      this.#show();
    }
  }

  #fail(message: string): void {
    this.#fault = message;
    this.dispatchEvent(new CustomEvent("fault", { detail: message, bubbles: true, composed: true }));
  }

  #go(ply: number, isNew = false): void {
    if (!this.#root) return;
    const next = Math.max(0, Math.min(this.plies, Number.isNaN(ply) ? 0 : Math.trunc(Math.min(ply, this.plies))));
    if (next === this.#ply) return;
    this.#ply = next;
    this.#show();
    if (!isNew) this.#tell();
  }

  /** Says what is shown, to who listens and to who hears. */
  #tell(): void {
    const { fen, san, uci, number } = this.#line.plies[this.#ply] ?? { fen: "", san: "", uci: "", number: "" };
    const known = this.#known[this.#ply];
    const score = known ? { cp: known.cp, mate: known.mate, depth: known.depth } : null;
    this.#said.textContent = [number ? `${number} ${san}` : "Start", this.#words()].filter(Boolean).join(", ");
    const detail: PlyDetail = { ply: this.#ply, fen, san, uci, score };
    this.dispatchEvent(new CustomEvent("ply", { detail, bubbles: true, composed: true }));
  }

  /** What is known of the position that is shown, in words. */
  #words(): string {
    const at = this.#line.plies[this.#ply];
    const known = this.#known[this.#ply];
    if (at?.over !== undefined) return at.over === 0 ? "stalemate" : "checkmate";
    if (!known) return { open: "", asked: "looking it up…", answered: known === null ? "not in the database" : "could not be looked up" }[this.#state];
    const depth = known.depth === undefined ? "" : `, depth ${known.depth}`;
    return `${written(known)}${depth}${known.from === "pgn" ? ", from the PGN" : ""}`;
  }

  /** Writes the moves, and draws the graph. */
  #list(): void {
    const { plies } = this.#line;
    this.#game.classList.toggle("single", plies.length < 2);
    this.#moves.replaceChildren(
      ...plies.slice(1).flatMap(({ san, glyph, number }, n) => {
        const known = this.#known[n + 1];
        const isFirst = number.endsWith(".");
        const button = make("button", { type: "button", part: "move", "data-ply": String(n + 1) }, san + glyph, make("small", {}, known ? written(known) : ""));
        if (isFirst) return [make("span", {}, number), button];
        return n === 0 ? [make("span", {}, number), make("span", {}, "…"), button] : [button];
      }),
    );
    this.#graph.show(plies.map((ply, n) => standing(ply, this.#known[n])));
  }

  /** Shows the position. */
  #show(): void {
    const at = this.#line.plies[this.#ply];
    if (!at) return;
    const known = this.#known[this.#ply];
    this.#board.isFlipped = this.#isFlipped;
    this.#board.show(at, known?.best);
    const share = standing(at, known);
    this.#bar.classList.toggle("unknown", share === undefined);
    this.#bar.classList.toggle("flipped", this.#isFlipped);
    this.#bar.style.setProperty("--share", String(((share ?? 0) + 1) / 2));
    const result = at.over === undefined ? "" : at.over === 1 ? "1–0" : at.over === -1 ? "0–1" : "½–½";
    this.#score.textContent = result || (known ? written(known) : "");
    const words = this.#words();
    const facts = known && !result ? words.split(", ").slice(1).join(", ") : words;
    this.#facts.textContent = facts.charAt(0).toUpperCase() + facts.slice(1);
    this.#graph.point(this.#ply, [at.number ? `${at.number} ${at.san}` : "Start", words].filter(Boolean).join(", "));
    const hasComments = this.#line.plies.some(({ comment }) => comment);
    this.#comment.hidden = !hasComments;
    this.#comment.textContent = at.comment;
    this.#faults.hidden = !this.#fault;
    this.#faults.textContent = this.#fault;
    for (const name of ["first", "previous"]) this.#disable(name, this.#ply === 0);
    for (const name of ["next", "last"]) this.#disable(name, this.#ply === this.plies);
    this.#name();
    this.#mark();
  }

  /** A button that is disabled under the focus would take the keys away; so the focus goes on. */
  #disable(name: string, isDisabled: boolean): void {
    const button = this.#buttons.get(name);
    if (!button || button.disabled === isDisabled) return;
    const hasFocus = this.#root?.activeElement === button;
    button.disabled = isDisabled;
    if (hasFocus && isDisabled) this.#buttons.get(name === "next" || name === "last" ? "previous" : "next")?.focus();
  }

  /** Writes the players' names and the result where they sit. */
  #name(): void {
    const { headers } = this.#line;
    const result = /^([01]|1\/2)-([01]|1\/2)$/.exec(headers.get("Result") ?? "");
    this.#players.forEach((player, n) => {
      const isWhite = (n === 1) !== this.#isFlipped;
      const side = isWhite ? "White" : "Black";
      const elo = headers.get(`${side}Elo`) ?? "";
      const name = headers.get(side)?.replace(/^\?$/, "") ?? "";
      const points = result?.[isWhite ? 1 : 2]?.replace("1/2", "½");
      player.classList.toggle("black", !isWhite);
      player.replaceChildren(...(name ? [name + (/^\d+$/.test(elo) ? ` (${elo})` : "")] : []), ...(name && points ? [make("span", {}, points)] : []));
    });
  }

  /** Marks the move that led here, and brings it into view within its list. */
  #mark(): void {
    for (const button of this.#moves.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const button = this.#moves.querySelector<HTMLElement>(`[data-ply="${this.#ply}"]`);
    if (!button) return void (this.#moves.scrollTop = 0);
    button.setAttribute("aria-current", "true");
    // In the middle, in whole rows; the page itself stays where it is.
    const [box, list] = [button.getBoundingClientRect(), this.#moves.getBoundingClientRect()];
    const middle = this.#moves.scrollTop + box.top - list.top - (list.height - box.height) / 2;
    if (box.height > 0) this.#moves.scrollTop = box.height * Math.round(middle / box.height);
  }
}

export interface ShelfishGame {
  addEventListener<K extends keyof ShelfishGameEventMap>(
    type: K,
    listener: (this: ShelfishGame, event: ShelfishGameEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

if (globalThis.customElements && !customElements.get("shelfish-game")) customElements.define("shelfish-game", ShelfishGame);

declare global {
  interface HTMLElementTagNameMap {
    "shelfish-game": ShelfishGame;
  }
  namespace JSX {
    interface IntrinsicElements {
      "shelfish-game": ShelfishGameAttributes & { [name: string]: unknown };
    }
  }
}
