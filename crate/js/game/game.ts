// <shelfish-game pgn="1. e4 e5 …" database="https://example.org/evals/"> of the entry `shelfish/elements`.

import { LookupElement, shadow } from "../elements/element.js";
import { openShared } from "../elements/origins.js";
import type { FoundEval } from "../analysis/types.js";
import type {
  PlyDetail,
  ShelfishGameAttributes,
  ShelfishGameEventMap,
} from "../elements/types.js";
import { isError } from "../shared/errors.js";
import { boundedText } from "../shared/bounded-text.js";
import { emptyLine, type Line, lineOf } from "./line.js";
import { STYLE } from "./style.js";
import { type Action, type Shown, View } from "./view.js";

/** Maximum length of a fetched PGN, in characters. */
const MAX_LENGTH = 1 << 20;

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
 * Looks up positions: `null` if the database has no evaluation, `undefined` if the lookup failed or the game is over.
 * Rejects if all lookups fail.
 */
async function lookupScores(
  url: string,
  fens: readonly string[],
  signal: AbortSignal,
): Promise<(FoundEval | null | undefined)[]> {
  const database = await openShared("openDatabase", url);
  const answers = await database.lookupMany(fens, { signal });
  const failed = answers.filter((answer) => isError(answer));
  const failure = failed.find(({ code }) => code !== "over");
  if (failure && failed.length === answers.length) throw failure;
  return answers.map((answer) => {
    return isError(answer) ? undefined : answer;
  });
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
export class ShelfishGame extends LookupElement<ShelfishGameEventMap> {
  static readonly observedAttributes = [
    "pgn",
    "src",
    "fen",
    "database",
    "ply",
    "orientation",
  ];

  readonly #view = new View(
    (action) => this.#act(action),
    (ply) => this.#go(ply),
  );
  #shown: Shown = {
    line: { plies: [], headers: new Map() },
    scores: [],
    ply: 0,
    isFlipped: false,
    lookup: "none",
  };
  /** The parser may add the PGN inside the element later. */
  readonly #mutation = new MutationObserver(() => {
    if (!this.hasAttribute("pgn"))
      this.attributeChangedCallback("pgn", "", null);
  });
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
  override connectedCallback(): void {
    super.connectedCallback();
    this.#isNew = true;
    this.changed("orientation");
    this.#setLine(emptyLine());
    this.#mutation.observe(this, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  }

  /** @internal */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#mutation.disconnect();
  }

  protected build(): HTMLElement {
    shadow(this, STYLE).append(this.#view.element);
    return this.#view.element.querySelector(".controls")!;
  }

  protected override changed(name: string): boolean {
    if (name === "ply") this.#go(Number(this.getAttribute("ply")) || 0);
    else if (name === "orientation") {
      this.#shown.isFlipped = this.getAttribute("orientation") === "black";
      this.#view.show(this.#shown);
    } else {
      this.#isNew ||= name !== "database";
      return true;
    }
    return false;
  }

  protected clear(): void {
    this.#shown.lookup = "none";
    this.#view.show(this.#shown);
  }

  /** Reads the game, if it is new, and looks its evaluations up. */
  protected async load(signal: AbortSignal): Promise<void> {
    if (this.#isNew) {
      const read = await this.#read(signal);
      if (signal.aborted) return;
      this.#isNew = false;
      this.#setLine(read);
    }
    const { line } = this.#shown;
    if (line.error) this.fail(line.error);
    const database = this.url("database");
    if (database === undefined) return;
    this.#shown.lookup = "waiting";
    this.#view.show(this.#shown);
    const fens = line.plies.map(({ fen }) => fen);
    const found = await lookupScores(database, fens, signal);
    if (signal.aborted || line !== this.#shown.line) return;
    this.#shown.scores = line.plies.map(
      ({ given }, ply) => found[ply] || given || found[ply],
    );
    this.#shown.lookup = "answered";
    this.#view.list(this.#shown);
    this.#view.show(this.#shown);
    this.#report();
  }

  #act(action: Action): void {
    if (action === "flip") {
      this.#shown.isFlipped = !this.#shown.isFlipped;
      this.#view.show(this.#shown);
    } else
      this.#go(
        {
          first: 0,
          previous: this.ply - 1,
          next: this.ply + 1,
          last: this.plies,
        }[action],
      );
  }

  /** Reads the game from the attributes, the text or the URL. */
  async #read(signal: AbortSignal): Promise<Line> {
    const { pgn } = this;
    const fen = this.fen.trim();
    const url = this.hasAttribute("pgn") ? undefined : this.url("src");
    if (url !== undefined) {
      const response = await fetch(url, { signal });
      if (!response.ok)
        throw new Error(`${url} was answered with status ${response.status}`);
      const text = await boundedText(response.body, MAX_LENGTH);
      if (text === undefined)
        throw new Error(`${url} has more than ${MAX_LENGTH} characters`);
      return readLine(text);
    }
    if (pgn) return readLine(pgn);
    return fen ? readLine(`[FEN "${fen}"]\n\n*`, "fen") : emptyLine();
  }

  #setLine(line: Line): void {
    const scores = line.plies.map(({ given }) => given);
    this.#shown = { ...this.#shown, line, scores, ply: -1, lookup: "none" };
    this.#view.list(this.#shown);
    this.#go(Number(this.getAttribute("ply")) || 0, true);
  }

  #go(ply: number, isNew = false): void {
    const next = Math.max(0, Math.min(this.plies, Math.trunc(ply) || 0));
    if (next === this.ply) return;
    this.#shown.ply = next;
    this.#view.show(this.#shown);
    if (!isNew) this.#report();
  }

  /** Reports the position to listeners and to screen readers. */
  #report(): void {
    const { line, scores, ply } = this.#shown;
    const { fen, san, uci } = line.plies[ply] ?? { fen: "", san: "", uci: "" };
    this.announce(this.#view.describe(this.#shown));
    const evaluation = scores[ply] ?? null;
    const detail: PlyDetail = { ply, fen, san, uci, evaluation };
    this.dispatchEvent(
      new CustomEvent("ply", { detail, bubbles: true, composed: true }),
    );
  }
}
