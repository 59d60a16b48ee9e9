// <shelfish-game pgn="1. e4 e5 …" database="https://example.org/evals/"> of the entry `shelfish/elements`.

import type { openDatabase } from "../index.js";
import { Base, shadow, whenVisible } from "../elements/element.js";
import { lookupScores } from "./databases.js";
import { emptyLine, type Line, lineOf } from "./line.js";
import { STYLE } from "./style.js";
import type {
  PlyDetail,
  ShelfishGameAttributes,
  ShelfishGameEventMap,
} from "./types.js";
import { type Action, type Shown, View } from "./view.js";

export type * from "./types.js";

/** Maximum length of a fetched PGN, in characters. */
const MAX_LENGTH = 1 << 20;

/** Reads the text of an answer. Cancels the answer and returns `undefined` if the text is too long. */
async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    text += decoder.decode(value, { stream: !done });
    if (text.length > MAX_LENGTH) return void (await reader?.cancel());
    if (done) return text;
  }
}

/** Reads the first game of a PGN. The module that reads it is loaded once. */
async function readLine(pgn: string, name = "pgn"): Promise<Line> {
  try {
    const { openAnalysis } = await import("../analysis.js");
    return lineOf((await openAnalysis()).read(pgn));
  } catch (error) {
    return emptyLine(`${name}: ${(error as Error).message}`);
  }
}

/**
 * `<shelfish-game>`: a board, the moves, and the evaluations of a database.
 *
 * The attributes are those of {@link ShelfishGameAttributes}. Events, which cannot be cancelled: `ply` (a `CustomEvent` with
 * {@link PlyDetail}) if another position is shown, `error` (with a `string`) if something cannot be read. Parts: `game`,
 * `board`, `bar`, `score`, `facts`, `graph`, `moves`, `move`, `comment`, `controls`, `player`. Custom properties:
 * `--shelfish-` with `accent`, `wash`, `paper`, `raised`, `edge`, `ink`, `soft`, `light-square`, `dark-square`, `font`,
 * `radius`.
 */
export class ShelfishGame extends Base {
  /** Opens databases instead of `openDatabase` of `shelfish`: that of `shelfish/inline`, or with options. */
  static openDatabase: typeof openDatabase | undefined;

  static readonly observedAttributes = [
    "pgn",
    "src",
    "fen",
    "database",
    "ply",
    "orientation",
  ];

  #view: View | undefined;
  #shown: Shown = {
    line: { plies: [], headers: new Map() },
    scores: [],
    ply: 0,
    isFlipped: false,
    lookup: "none",
    error: "",
  };
  #isVisible = false;
  #loading = new AbortController();
  #disconnect = () => {};
  #changed = new Set<string>();
  /** Whether the game was not read yet. */
  #isNew = true;

  /** The ply that is shown. */
  get ply(): number {
    return this.#shown.ply;
  }

  set ply(ply: number) {
    this.#go(ply);
  }

  /** Number of plies of the game. */
  get plies(): number {
    return Math.max(0, this.#shown.line.plies.length - 1);
  }

  get pgn(): string {
    return this.getAttribute("pgn") ?? this.textContent?.trim() ?? "";
  }

  set pgn(pgn: string) {
    this.setAttribute("pgn", pgn);
  }

  /** URL of the database. */
  get database(): string | null {
    return this.getAttribute("database");
  }

  set database(url: string | null) {
    if (url === null) this.removeAttribute("database");
    else this.setAttribute("database", url);
  }

  /** The side at the bottom. */
  get orientation(): "white" | "black" {
    return this.#shown.isFlipped ? "black" : "white";
  }

  set orientation(side: "white" | "black") {
    this.setAttribute("orientation", side);
  }

  /** @internal */
  connectedCallback(): void {
    this.#view ??= this.#build();
    this.#isVisible = false;
    this.#shown.isFlipped = this.getAttribute("orientation") === "black";
    this.#setLine(emptyLine());
    const unwatch = whenVisible(this, () => {
      this.#isVisible = true;
      void this.#load(true);
    });
    // The parser may add the PGN inside the element later.
    const mutation = new MutationObserver(() => {
      if (!this.hasAttribute("pgn")) void this.#load(true);
    });
    mutation.observe(this, {
      childList: true,
      characterData: true,
      subtree: true,
    });
    this.#disconnect = () => {
      unwatch();
      mutation.disconnect();
    };
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#disconnect();
    this.#loading.abort();
    this.#loading = new AbortController();
  }

  /** @internal */
  attributeChangedCallback(
    name: string,
    before: string | null,
    after: string | null,
  ): void {
    if (!this.#view || !this.isConnected || before === after) return;
    if (name === "ply") return this.#go(Number(after) || 0);
    // Handles changes of several attributes together.
    if (this.#changed.size === 0) queueMicrotask(() => this.#applyChanges());
    this.#changed.add(name);
  }

  #applyChanges(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    if (!this.isConnected) return;
    if (changed.delete("orientation")) {
      this.#shown.isFlipped = this.getAttribute("orientation") === "black";
      this.#view?.show(this.#shown);
    }
    if (changed.size === 0) return;
    void this.#load(["pgn", "src", "fen"].some((name) => changed.has(name)));
  }

  #build(): View {
    const root = shadow(this, STYLE);
    const view = new View(
      (action) => this.#act(action),
      (ply) => this.#go(ply),
    );
    root.append(view.element);
    return view;
  }

  #act(action: Action): void {
    if (action === "flip") {
      this.#shown.isFlipped = !this.#shown.isFlipped;
      this.#view?.show(this.#shown);
    } else
      this.#go(
        {
          first: 0,
          previous: this.ply - 1,
          next: this.ply + 1,
          last: Infinity,
        }[action],
      );
  }

  /** Reads the game from the attributes, the text or the URL. */
  async #read(signal: AbortSignal): Promise<Line> {
    const { pgn } = this;
    const fen = this.getAttribute("fen")?.trim();
    if (this.hasAttribute("src") && !this.hasAttribute("pgn")) {
      const url = this.#url("src");
      const response = await fetch(url, { signal });
      if (!response.ok)
        throw new Error(`${url} was answered with status ${response.status}`);
      const text = await readText(response);
      if (text === undefined)
        throw new Error(`${url} has more than ${MAX_LENGTH} characters`);
      return readLine(text);
    }
    if (pgn) return readLine(pgn);
    return fen ? readLine(`[FEN "${fen}"]\n\n*`, "fen") : emptyLine();
  }

  #url(name: string): string {
    return new URL(this.getAttribute(name) ?? "", this.baseURI).href;
  }

  #setLine(line: Line): void {
    const scores = line.plies.map(({ given }) => given);
    this.#shown = {
      ...this.#shown,
      line,
      scores,
      ply: -1,
      lookup: "none",
      error: "",
    };
    if (line.error) this.#fail(line.error);
    this.#view?.list(this.#shown);
    this.#go(Number(this.getAttribute("ply")) || 0, true);
  }

  /** Reads the game, if it is new, and looks its evaluations up, when the element is visible. */
  async #load(isNew: boolean): Promise<void> {
    this.#isNew ||= isNew;
    if (!this.#isVisible) return;
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    try {
      if (this.#isNew) {
        const read = await this.#read(signal);
        if (signal.aborted) return;
        this.#isNew = false;
        this.#setLine(read);
      }
      if (!this.hasAttribute("database")) return;
      const { line } = this.#shown;
      this.#shown.lookup = "waiting";
      this.#view?.show(this.#shown);
      const opener = async () =>
        ShelfishGame.openDatabase ?? (await import("../index.js")).openDatabase;
      const found = await lookupScores(
        this.#url("database"),
        line.plies.map(({ fen }) => fen),
        opener,
        signal,
      );
      if (signal.aborted || line !== this.#shown.line) return;
      this.#shown.scores = line.plies.map(
        ({ given }, ply) => found[ply] || given || found[ply],
      );
      this.#shown.lookup = "answered";
      this.#view?.list(this.#shown);
      this.#view?.show(this.#shown);
      this.#report();
    } catch (error) {
      if (signal.aborted) return;
      this.#shown.lookup = "none";
      this.#fail((error as Error).message);
      this.#view?.show(this.#shown);
    }
  }

  #fail(message: string): void {
    this.#shown.error = message;
    this.dispatchEvent(new CustomEvent("error", { detail: message }));
  }

  #go(ply: number, isNew = false): void {
    if (!this.#view) return;
    const next = Math.max(
      0,
      Math.min(
        this.plies,
        Number.isNaN(ply) ? 0 : Math.trunc(Math.min(ply, this.plies)),
      ),
    );
    if (next === this.ply) return;
    this.#shown.ply = next;
    this.#view.show(this.#shown);
    if (!isNew) this.#report();
  }

  /** Reports the position to listeners and to screen readers. */
  #report(): void {
    const { line, scores, ply } = this.#shown;
    const { fen, san, uci } = line.plies[ply] ?? { fen: "", san: "", uci: "" };
    const known = scores[ply];
    this.#view?.announce(this.#shown);
    const score = known
      ? { cp: known.cp, mate: known.mate, depth: known.depth }
      : null;
    const detail: PlyDetail = { ply, fen, san, uci, score };
    this.dispatchEvent(
      new CustomEvent("ply", { detail, bubbles: true, composed: true }),
    );
  }
}

export interface ShelfishGame {
  addEventListener<K extends keyof ShelfishGameEventMap>(
    type: K,
    listener: (this: ShelfishGame, event: ShelfishGameEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

if (globalThis.customElements && !customElements.get("shelfish-game"))
  customElements.define("shelfish-game", ShelfishGame);

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
