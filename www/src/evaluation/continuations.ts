/**
 * The legal moves with the evaluations of the positions after them: the best move of the position's own evaluation, other deep evaluations, then
 * shallow evaluations. Results of endgame tables are exact.
 */
import "../style/parts.css";
import type { Position } from "chessops/chess";
import type { NormalMove, Role } from "chessops/types";
import { bindPreview, bindPreviewEnd } from "../board/board";
import type { DatabaseClient } from "../database/client";
import {
  Game,
  isPromotion,
  type Node,
  type Step,
  steps,
  uci,
} from "../game/game";
import { whenVisible } from "../loading/timing";
import {
  bestScore,
  compareScores,
  isShallow,
  type KnownScore,
} from "../score/known-score";
import { byId, make, redraw } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import type { EndgameLookups } from "./endgame-lookups";
import type { LineActions } from "./lines";

/** Milliseconds without a change of the board before its moves are looked up. */
const DELAY = 300;

/** A legal move and the position after it. */
interface Continuation {
  step: Step;
  after: Node;
}

/** The moves of a position. */
interface Drawn {
  node: Node;
  continuations: readonly Continuation[];
}

/** The panel. It looks moves up only while it is visible. */
export class Continuations {
  readonly #root = byId("continuations");
  readonly #share = make("p", { className: "share" });
  readonly #rows = make("ul");
  #isVisible = false;
  #timer = 0;
  #abort = new AbortController();
  #drawn: Drawn | undefined;
  /** Best move of the evaluation of the position, when the list was drawn. */
  #best: string | undefined;

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
    private readonly endgames: Pick<EndgameLookups, "results">,
    private readonly preview: LineActions["preview"],
  ) {
    this.#root.append(
      make("h2", {}, "Moves from here"),
      this.#share,
      this.#rows,
    );
    whenVisible(this.#root, (isVisible) => {
      this.#isVisible = isVisible;
      this.refresh();
    });
    bindPreviewEnd(this.#root, () => preview());
    state.on(({ node, known }) => {
      // Another evaluation of the position may have another best move.
      if (
        !node &&
        known &&
        this.#drawn?.node === state.node &&
        this.#bestMove() !== this.#best
      )
        this.#draw();
      if (!node) return;
      this.#drawn = undefined;
      this.#root.classList.add("stale");
      this.refresh();
    });
  }

  /** Ends the running work, and begins again if the panel is visible. */
  refresh(): void {
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    if (this.#isVisible)
      this.#timer = window.setTimeout(() => void this.#lookUp(), DELAY);
  }

  async #lookUp(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    const { node } = this.state;
    const continuations = continuationsOf(node);
    const fens = continuations
      .filter(
        ({ after }) =>
          after.position.hasDests() && !this.state.databaseEvals.has(after.fen),
      )
      .map(({ after }) => after.fen);
    const inDatabase = async () => {
      if (fens.length > 0)
        this.state.addDatabaseEvals(
          (await this.client.lookupMany(fens, signal)).answers,
        );
    };
    const inTables = this.endgames.results(
      continuations.map(({ after }) => after),
      signal,
    );
    // The lookup of the position on the board fails too and reports the error.
    await Promise.all([inDatabase().catch(() => {}), inTables]);
    if (signal.aborted) return;
    this.#drawn = { node, continuations };
    this.#draw();
  }

  /** Returns the score of the position after a move: by the rules, by endgame tables, or by the database. */
  #scoreAfter(after: Node): KnownScore | undefined {
    const score = bestScore(after, this.state);
    return score && ["database", "rules", "endgames"].includes(score.origin)
      ? score
      : undefined;
  }

  /** Returns the best move in SAN of the evaluation of the position. */
  #bestMove(): string | undefined {
    const { node } = this.state;
    return steps(
      node.position,
      bestScore(node, this.state)?.line.slice(0, 1) ?? [],
    )[0]?.san;
  }

  #draw(): void {
    if (!this.#drawn) return;
    const { node, continuations } = this.#drawn;
    const sign = node.position.turn === "white" ? 1 : -1;
    this.#best = this.#bestMove();
    const own = bestScore(node, this.state);
    const rank = ({ step, score }: { step: Step; score: KnownScore }) =>
      step.san === this.#best ? 0 : isShallow(score) ? 2 : 1;
    const known = continuations
      .flatMap(({ step, after }) => {
        const score = this.#scoreAfter(after);
        // The best move has the score of its line if the position after it is not known, or only by a shallow search.
        const isOfLine =
          step.san === this.#best &&
          own &&
          (!score || (isShallow(score) && !isShallow(own)));
        return isOfLine
          ? [{ step, score: own }]
          : score
            ? [{ step, score }]
            : [];
      })
      .sort(
        (a, b) => rank(a) - rank(b) || sign * compareScores(b.score, a.score),
      );
    redraw(
      this.#rows,
      ...known.map(({ step, score }) => this.#row(node, step, score)),
    );
    this.#share.textContent = `${known.length} of ${plural(continuations.length, "legal move")} ${known.length === 1 ? "has" : "have"} an evaluation`;
    this.#root.classList.remove("stale");
  }

  #row(node: Node, step: Step, score: KnownScore): HTMLElement {
    const shallow = isShallow(score);
    const depth =
      score.depth === undefined
        ? ""
        : `d${score.depth}${shallow ? " shallow" : ""}`;
    const parts = [
      make("span", { className: "san" }, step.san),
      make("span", { className: "move-score" }, score.text),
      make("span", { className: shallow ? "depth shallow" : "depth" }, depth),
    ];
    const button = make(
      "button",
      { type: "button", "data-testid": "continuation" },
      ...parts,
    );
    bindPreview(button, button, () => this.preview(step, node.position));
    button.addEventListener("click", () => this.state.play(node, step.move));
    return make("li", {}, button);
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
    return [
      { after, step: { move, san, position: after.position, number: "" } },
    ];
  });
}

/** Returns every legal move, castling also as a move to the king's target square. */
function legalMoves(position: Position): NormalMove[] {
  const moves: NormalMove[] = [];
  for (const [from, targets] of position.allDests())
    for (const to of targets) {
      const roles: (Role | undefined)[] = isPromotion(position, from, to)
        ? ["queen", "knight", "rook", "bishop"]
        : [undefined];
      moves.push(...roles.map((promotion) => ({ from, to, promotion })));
    }
  return moves;
}
