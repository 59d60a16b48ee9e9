/** Judges the moves of variations by the rule of the report. The judgments count in no figure. */
import type { Analysis, KnownEval, MoveReport } from "shelfish/analysis";
import { type Node, uci } from "../game/game";
import { loadOnce } from "../loading/load-once";
import { engineEval, type KnownScore, ownScore } from "../score/known-score";
import type { State } from "../state/state";

/** Maximum number of moves of variations that are judged. */
const MAX_MOVES = 2_000;

/** Updates the reports on moves of variations when evaluations of their positions are added. */
export class VariationJudge {
  #analysis: Analysis | undefined;
  /** The scores before and after each judged move. */
  readonly #scores = new Map<Node, string>();
  #moves = new Map<Node, MoveReport>();

  constructor(
    private readonly state: State,
    private readonly open: () => Promise<Analysis>,
  ) {
    state.join(({ game, tree, known }) => {
      if (game) {
        this.#scores.clear();
        this.#moves.clear();
      }
      if (tree || known) this.#judge(tree ? undefined : known);
    });
  }

  readonly #load = loadOnce(async () => {
    this.#analysis = await this.open();
  });

  /** Judges the moves whose positions are known. Only moves next to changed positions are judged again. */
  #judge(known: ReadonlySet<string> | undefined): void {
    const { state } = this;
    let isChanged = false;
    for (const node of sidelines(state.game.root)) {
      const { parent, move } = node;
      if (
        !parent ||
        !move ||
        (known && !known.has(node.fen) && !known.has(parent.fen))
      )
        continue;
      const scores = [ownScore(parent, state), ownScore(node, state)] as const;
      if (!scores[0] || !scores[1]) continue;
      if (!this.#analysis) {
        // The module is not part of the first view. Without a connection it may be missing.
        this.#load().then(
          () => this.#judge(undefined),
          () => {},
        );
        return;
      }
      const evaluations = [
        this.#evaluation(parent, scores[0]),
        this.#evaluation(node, scores[1]),
      ];
      const key = JSON.stringify(evaluations);
      if (this.#scores.get(node) === key) continue;
      const [report] = this.#analysis.report({
        fen: parent.fen,
        moves: [uci(move)],
        evaluations,
      }).moves;
      if (!report) continue;
      this.#scores.set(node, key);
      this.#moves.set(node, report);
      isChanged = true;
    }
    if (isChanged) state.setVariations(this.#moves);
  }

  /** Converts a score for the report. The rules evaluate the end of a game. */
  #evaluation(
    { fen }: Node,
    { origin, cp, mate, depth, knodes, line }: KnownScore,
  ): KnownEval | null {
    if (origin === "rules" || origin === "line") return null;
    const { state } = this;
    // Scores of the game's analysis are on the scale of Stockfish.
    const isUnscaled =
      origin === "engine" &&
      engineEval(fen, state) !== state.gameEvals.get(fen);
    return {
      ...(mate === undefined ? { cp } : { mate }),
      depth,
      knodes,
      line,
      from: origin,
      isUnscaled,
    };
  }
}

/** Returns the moves of all variations. */
function* sidelines(root: Node): Generator<Node> {
  const open = [{ node: root, isSideline: false }];
  let count = 0;
  for (let at = open.pop(); at; at = open.pop()) {
    const { node, isSideline } = at;
    open.push(
      ...node.children.map((child, index) => ({
        node: child,
        isSideline: isSideline || index > 0,
      })),
    );
    if (!isSideline) continue;
    if (++count > MAX_MOVES) return;
    yield node;
  }
}
