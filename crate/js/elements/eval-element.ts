// <shelfish-eval fen="…" database="https://example.org/evals/">: the evaluation of a position.

import { keyOf, type Origins, use } from "./origins.js";
import { winningChances } from "../shared/score.js";
import type { Evaluated } from "../shared/types.js";
import { make, minus } from "./dom.js";
import { LookupElement, shadow } from "./element.js";
import type { ShelfishEvalEventMap } from "./types.js";

/** Maximum number of lines. */
const MAX_LINES = 20;

const STYLE = `
.evaluation { display: grid; gap: 6px; padding: 10px 12px; border: 1px solid var(--_edge); border-radius: var(--shelfish-radius, 10px); background: var(--_paper); }
.verdict { display: flex; align-items: baseline; gap: 10px; min-width: 0; white-space: nowrap; }
.bar { height: 8px; overflow: hidden; border-radius: 4px; background: var(--_black); box-shadow: 0 0 0 1px var(--_edge); }
.bar div { height: 100%; background: var(--_white); transform-origin: left; transform: scaleX(var(--share, 0.5)); transition: transform 0.3s ease; }
.bar.unknown { background: repeating-linear-gradient(135deg, var(--_raised) 0 4px, var(--_edge) 4px 6px); }
.bar.unknown div { display: none; }
.lines { display: grid; gap: 2px; margin: 0; padding: 0; list-style: none; font-size: 14px; }
/* Reserves a row for each line, so that the page does not move when the answer arrives. */
.lines li { display: flex; gap: 8px; min-height: 1.4em; overflow: hidden; white-space: nowrap; }
.lines b { flex: none; min-width: 3.4em; font-weight: 650; }
.lines span { overflow: hidden; color: var(--_soft); text-overflow: ellipsis; }
.error { margin: 0; padding: 6px 8px; border-radius: 6px; font-size: 14px; overflow-wrap: anywhere; }
@media (prefers-reduced-motion: reduce) { .bar div { transition: none; } }
`;

const ORIGIN = {
  endgames: "endgame tables",
  database: "database",
  engine: "engine",
  stockfish: "Stockfish",
} as const;

/**
 * `<shelfish-eval>`: the score of a position, its origin, and its best lines.
 *
 * The attributes are those of `ShelfishEvalAttributes`. Events, which do not bubble: `evaluation` (a `CustomEvent` with the answer, or
 * `null` if no origin has an evaluation), `error` (with a `string`). Parts: `evaluation`, `bar`, `score`, `facts`, `lines`, `line`,
 * `error`. Custom properties: as of `<shelfish-game>`.
 */
export class ShelfishEval extends LookupElement<ShelfishEvalEventMap> {
  static readonly observedAttributes = [
    "fen",
    "database",
    "endgames",
    "engine",
    "lines",
  ];

  readonly #bar = make(
    "div",
    { class: "bar unknown", part: "bar", "aria-hidden": "true" },
    make("div"),
  );
  readonly #score = make("span", { class: "score", part: "score" });
  readonly #facts = make("span", { class: "facts", part: "facts" });
  readonly #lines = make("ol", { class: "lines", part: "lines" });
  #value: Evaluated<true> | null | undefined;
  /** The use of the origins that are open, and their key. */
  #open: { key: string; end: () => void } | undefined;

  /** The answer that is shown: `null` if no origin has an evaluation, `undefined` before the answer. */
  get value(): Evaluated<true> | null | undefined {
    return this.#value;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#open?.end();
    this.#open = undefined;
  }

  protected build(): HTMLElement {
    const verdict = make("div", { class: "verdict" }, this.#score, this.#facts);
    const content = make(
      "div",
      {
        class: "evaluation",
        part: "evaluation",
        role: "group",
        "aria-label": "Evaluation",
      },
      verdict,
      this.#bar,
      this.#lines,
    );
    shadow(this, STYLE).append(content);
    this.clear();
    return content;
  }

  get #count(): number {
    return Math.min(
      MAX_LINES,
      Math.max(0, Math.trunc(Number(this.getAttribute("lines") ?? 1)) || 0),
    );
  }

  protected clear(): void {
    this.#show(undefined, "");
  }

  protected async load(signal: AbortSignal): Promise<void> {
    const { fen } = this;
    if (fen === "") return this.clear();
    const origins: Origins = {
      database: this.url("database"),
      endgames: this.url("endgames"),
      engine: this.hasAttribute("engine"),
    };
    const evaluator = await this.#use(origins).evaluator();
    if (signal.aborted) return;
    this.#show(undefined, "looking it up…");
    const onInfo = (found: Evaluated<true>) =>
      signal.aborted || this.#show(found, factsOf(found));
    const options = {
      signal,
      san: true,
      multiPv: Math.max(1, this.#count),
      ...(origins.engine && { onInfo }),
    } as const;
    let value: Evaluated<true> | null;
    try {
      value = await evaluator.evaluate<true>(fen, options);
    } catch (error) {
      const { code, outcome } = error as { code?: string; outcome?: string };
      if (signal.aborted || code !== "over") throw error;
      return this.#show(undefined, outcome ?? "the game is over");
    }
    if (signal.aborted) return;
    this.#show(value, value ? factsOf(value) : "not in the database");
    this.announce(
      [this.#score.textContent, this.#facts.textContent]
        .filter(Boolean)
        .join(", "),
    );
    this.dispatchEvent(new CustomEvent("evaluation", { detail: value }));
  }

  /** Opens origins, unless they are open. Ends the use of the former origins. */
  #use(origins: Origins) {
    const key = keyOf(origins);
    const [open, end] = use(origins);
    if (this.#open?.key === key) end();
    else {
      this.#open?.end();
      this.#open = { key, end };
    }
    return open;
  }

  #show(value: Evaluated<true> | null | undefined, facts: string): void {
    this.#value = value;
    const [best] = value?.pvs ?? [];
    this.#score.textContent = best ? minus(best.score) : "";
    this.#facts.textContent = facts.charAt(0).toUpperCase() + facts.slice(1);
    this.#bar.classList.toggle("unknown", !best);
    this.#bar.style.setProperty(
      "--share",
      String(((best ? winningChances(best) : 0) + 1) / 2),
    );
    const rows = Array.from({ length: this.#count }, (_, n) => {
      const pv = value?.pvs[n];
      return make(
        "li",
        { part: "line" },
        ...(pv
          ? [make("b", {}, minus(pv.score)), make("span", {}, pv.san.join(" "))]
          : []),
      );
    });
    this.#lines.replaceChildren(...rows);
  }
}

const factsOf = ({ from, depth }: Evaluated): string =>
  from === "endgames" ? ORIGIN[from] : `depth ${depth}, ${ORIGIN[from]}`;
