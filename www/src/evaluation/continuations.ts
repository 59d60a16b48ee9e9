/** The moves from here whose positions the database has, best first for the side to move. */
import type { NormalMove, Role } from "chessops/types";
import { squareRank } from "chessops/util";
import { plural } from "../text/units";
import type { DatabaseClient } from "../database/client";
import { byId, make } from "../shell/dom";
import { Game, type Node, type Step, uci } from "../game/game";
import { bestKnown, type Knowledge } from "../score/known-score";
import type { LineActions } from "./lines";
import type { State } from "../state/state";

/** How long the board must be at rest before its moves are looked up. */
const REST = 300;

/** A legal move and the position after it. */
interface Continuation {
  step: Step;
  after: Node;
}

/** The panel; it asks only while it can be seen. */
export class Continuations {
  readonly #root = byId("continuations");
  #seen = false;
  #timer = 0;
  #abort = new AbortController();

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
    private readonly preview: LineActions["preview"],
  ) {
    new IntersectionObserver((entries) => {
      this.#seen = entries.some(({ isIntersecting }) => isIntersecting);
      if (this.#seen) this.#rest();
    }).observe(this.#root);
    this.#root.addEventListener("pointerleave", () => preview(undefined));
    state.on(({ node }) => {
      if (!node) return;
      this.#root.classList.add("stale");
      this.#rest();
    });
  }

  #rest(): void {
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    if (this.#seen) this.#timer = window.setTimeout(() => void this.#look(), REST);
  }

  async #look(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    const { node } = this.state;
    const continuations = from(node);
    const wanted = continuations.filter(({ after }) => after.position.hasDests() && !this.state.answers.has(after.fen)).map(({ after }) => after.fen);
    try {
      if (wanted.length > 0) {
        const { answers } = await this.client.lookupMany(wanted, signal);
        if (signal.aborted) return;
        this.state.learn(wanted.flatMap((fen, index) => (answers[index] === undefined ? [] : [[fen, answers[index]] as const])));
      }
      this.#draw(node, continuations);
    } catch {
      // The lookup of the position itself meets the same failure and reports it.
    }
  }

  #draw(node: Node, continuations: readonly Continuation[]): void {
    const sign = node.position.turn === "white" ? 1 : -1;
    const known = continuations
      .flatMap(({ step, after }) => {
        const knowledge = bestKnown(after, this.state);
        return knowledge && (knowledge.source === "database" || knowledge.source === "rules") ? [{ step, knowledge }] : [];
      })
      .sort((a, b) => sign * (value(b.knowledge) - value(a.knowledge)));
    const rows = known.map(({ step, knowledge }) => {
      const depth = knowledge.depth === undefined ? "" : `d${knowledge.depth}`;
      const parts = [make("span", { className: "san" }, step.san), make("span", { className: "move-score" }, knowledge.text), make("span", { className: "depth" }, depth)];
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

/** Every legal move of a position. The nodes belong to no game. */
function from(node: Node): Continuation[] {
  const { position } = node;
  const moves: NormalMove[] = [];
  for (const [orig, dests] of position.allDests()) {
    for (const to of dests) {
      const promotes = position.board.pawn.has(orig) && (squareRank(to) === 0 || squareRank(to) === 7);
      const roles: (Role | undefined)[] = promotes ? ["queen", "knight", "rook", "bishop"] : [undefined];
      moves.push(...roles.map((promotion) => ({ from: orig, to, promotion })));
    }
  }
  const aside = new Game(position);
  const seen = new Set<string>();
  return moves.flatMap((move) => {
    const after = aside.play(aside.root, move);
    if (!after.move || seen.has(uci(after.move))) return [];
    seen.add(uci(after.move));
    return [{ after, step: { move: after.move, san: after.san, position: after.position, number: "" } }];
  });
}

/** A number that orders scores from Black's best to White's best. */
function value({ cp, mate, share }: Knowledge): number {
  if (mate !== undefined) return mate > 0 ? 1e6 - mate : -1e6 - mate;
  return cp ?? share * 2e6;
}
