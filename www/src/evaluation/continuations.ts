/** The legal moves that lead to known positions: the best move of the position's own evaluation, other deep evaluations, then shallow evaluations. */
import { bindPreview, bindPreviewEnd } from "../board/preview";
import type { DatabaseClient } from "../database/client";
import { Game, type Node, type Step, steps, uci } from "../game/game";
import { legalMoves } from "../game/legal-moves";
import { bestScore, compareScores, isShallow, type KnownScore } from "../score/known-score";
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
  /** The legal moves of the position that is drawn. */
  #drawn: { node: Node; continuations: readonly Continuation[] } | undefined;
  /** Best move of the evaluation of the position, when the list was drawn. */
  #best: string | undefined;

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
    private readonly preview: LineActions["preview"],
  ) {
    new IntersectionObserver((entries) => {
      this.#isVisible = entries.some(({ isIntersecting }) => isIntersecting);
      if (this.#isVisible) this.#schedule();
    }).observe(this.#root);
    bindPreviewEnd(this.#root, () => preview());
    state.on(({ node, known }) => {
      // Another evaluation of the position may have another best move.
      if (!node && known && this.#drawn?.node === state.node && this.#bestMove() !== this.#best) this.#draw(this.#drawn);
      if (!node) return;
      this.#drawn = undefined;
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
      this.#drawn = { node, continuations };
      this.#draw(this.#drawn);
    } catch {
      // The lookup of the position on the board fails too and reports the error.
    }
  }

  /** Returns the best move in SAN of the evaluation of the position. */
  #bestMove(): string | undefined {
    const { node } = this.state;
    return steps(node.position, bestScore(node, this.state)?.line.slice(0, 1) ?? [])[0]?.san;
  }

  #draw({ node, continuations }: { node: Node; continuations: readonly Continuation[] }): void {
    const sign = node.position.turn === "white" ? 1 : -1;
    this.#best = this.#bestMove();
    const own = bestScore(node, this.state);
    const rank = ({ step, score }: { step: Step; score: KnownScore }) => (step.san === this.#best ? 0 : isShallow(score) ? 2 : 1);
    const isKnown = (score: KnownScore | undefined) => score?.origin === "database" || score?.origin === "rules" || score?.origin === "endgames";
    const known = continuations
      .flatMap(({ step, after }) => {
        const score = bestScore(after, this.state);
        // The best move has the score of its line if the position after it is not known, or only by a shallow search.
        const isOfLine = step.san === this.#best && own && (!score || !isKnown(score) || (isShallow(score) && !isShallow(own)));
        return isOfLine ? [{ step, score: own }] : score && isKnown(score) ? [{ step, score }] : [];
      })
      .sort((a, b) => rank(a) - rank(b) || sign * compareScores(b.score, a.score));
    const rows = known.map(({ step, score }) => {
      const depth = score.depth === undefined ? "" : `d${score.depth}${isShallow(score) ? " shallow" : ""}`;
      const parts = [make("span", { className: "san" }, step.san), make("span", { className: "move-score" }, score.text), make("span", { className: isShallow(score) ? "depth shallow" : "depth" }, depth)];
      const button = make("button", { type: "button", "data-testid": "continuation" }, ...parts);
      bindPreview(button, button, () => this.preview(step, node.position));
      button.addEventListener("click", () => this.state.play(node, step.move));
      return make("li", {}, button);
    });
    const share = `${known.length} of ${plural(continuations.length, "legal move")} ${known.length === 1 ? "has" : "have"} an evaluation`;
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
