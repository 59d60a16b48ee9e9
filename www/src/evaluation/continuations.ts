/** The legal moves that lead to positions of the database, the best for the side to move first. */
import type { DatabaseClient } from "../database/client";
import { Game, type Node, type Step, uci } from "../game/game";
import { legalMoves } from "../game/legal-moves";
import { bestScore, compareScores } from "../score/known-score";
import { byId, make } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import type { LineActions } from "./lines";

/** Milliseconds without a change of the board before its moves are looked up. */
const DELAY = 300;

/** A legal move and the position after it. */
interface Continuation {
  step: Step;
  after: Node;
}

/** The panel. It looks moves up only while it is visible. */
export class Continuations {
  readonly #root = byId("continuations");
  #isVisible = false;
  #timer = 0;
  #abort = new AbortController();

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
    private readonly preview: LineActions["preview"],
  ) {
    new IntersectionObserver((entries) => {
      this.#isVisible = entries.some(({ isIntersecting }) => isIntersecting);
      if (this.#isVisible) this.#schedule();
    }).observe(this.#root);
    this.#root.addEventListener("pointerleave", () => preview(undefined));
    state.on(({ node }) => {
      if (!node) return;
      this.#root.classList.add("stale");
      this.#schedule();
    });
  }

  #schedule(): void {
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    if (this.#isVisible) this.#timer = window.setTimeout(() => void this.#lookUp(), DELAY);
  }

  async #lookUp(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    const { node } = this.state;
    const continuations = continuationsOf(node);
    const fens = continuations.filter(({ after }) => after.position.hasDests() && !this.state.databaseEvals.has(after.fen)).map(({ after }) => after.fen);
    try {
      if (fens.length > 0) {
        const { answers } = await this.client.lookupMany(fens, signal);
        if (signal.aborted) return;
        this.state.addDatabaseEvals(answers);
      }
      this.#draw(node, continuations);
    } catch {
      // The lookup of the position on the board fails too and reports the error.
    }
  }

  #draw(node: Node, continuations: readonly Continuation[]): void {
    const sign = node.position.turn === "white" ? 1 : -1;
    const known = continuations
      .flatMap(({ step, after }) => {
        const score = bestScore(after, this.state);
        return score && (score.origin === "database" || score.origin === "rules") ? [{ step, score }] : [];
      })
      .sort((a, b) => sign * compareScores(b.score, a.score));
    const rows = known.map(({ step, score }) => {
      const depth = score.depth === undefined ? "" : `d${score.depth}`;
      const parts = [make("span", { className: "san" }, step.san), make("span", { className: "move-score" }, score.text), make("span", { className: "depth" }, depth)];
      const button = make("button", { type: "button", "data-testid": "continuation" }, ...parts);
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.preview(button, step, node.position));
      button.addEventListener("click", () => this.state.play(node, step.move));
      return make("li", {}, button);
    });
    const share = `${known.length} of ${plural(continuations.length, "legal move")} lead to known positions`;
    this.#root.replaceChildren(make("h2", {}, "Moves from here"), make("p", { className: "share" }, share), make("ul", {}, ...rows));
    this.#root.classList.remove("stale");
  }
}

/** Returns every legal move of a position. The nodes belong to no game on the board. */
function continuationsOf({ position }: Node): Continuation[] {
  const game = new Game(position);
  const seen = new Set<string>();
  return legalMoves(position).flatMap((legal) => {
    const after = game.play(game.root, legal);
    const { move, san } = after;
    if (!move || seen.has(uci(move))) return [];
    seen.add(uci(move));
    return [{ after, step: { move, san, position: after.position, number: "" } }];
  });
}
