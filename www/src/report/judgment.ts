/** What is said of moves: glyphs and words, the author's own before the page's; and the line that was better. */
import { byId, make } from "../shell/dom";
import { type Node, steps, variationOf } from "../game/game";
import { bestScore } from "../score/known-score";
import { type LineActions, lineMoves } from "../evaluation/lines";
import type { State } from "../state/state";

/** The kinds of bad moves, in order of weight. */
export const KINDS = ["inaccuracy", "mistake", "blunder"] as const;

/** A kind of bad move. */
export type Kind = (typeof KINDS)[number];

/** The plural of a kind. */
export const MANY: Record<Kind, string> = { inaccuracy: "inaccuracies", mistake: "mistakes", blunder: "blunders" };

const GLYPHS = ["", "!", "?", "!!", "??", "!?", "?!"];
const SIGNS: Record<Kind, string> = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const BY_SIGN: Record<string, Kind> = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };

/** The glyph of a move, and what kind of bad move it is. */
export function glyphOf(node: Node, state: State): { text: string; kind?: Kind; byAuthor: boolean } {
  const nag = node.notes.nags.find((nag) => nag >= 1 && nag <= 6);
  if (nag !== undefined) return { text: GLYPHS[nag] ?? "", kind: BY_SIGN[GLYPHS[nag] ?? ""], byAuthor: true };
  const kind = state.assessment?.moves.get(node)?.judgment ?? undefined;
  return { text: kind ? SIGNS[kind] : "", kind, byAuthor: false };
}

/** The row below the moves that says what was wrong with the move on the board. */
export class JudgmentRow {
  readonly #root = byId("judgment");

  constructor(
    private readonly state: State,
    private readonly preview: LineActions["preview"],
  ) {
    state.on(({ node, report }) => (node || report) && this.#draw());
  }

  /** What can be done with the variation that the board is in. */
  #variation(first: Node | undefined): HTMLElement[] {
    const siblings = first?.parent?.children;
    if (!first || !siblings) return [];
    const action = (id: string, label: string, change: () => Node) => {
      const button = make("button", { type: "button", "data-testid": id }, label);
      button.addEventListener("click", () => this.state.edit(change));
      return button;
    };
    const take = () => siblings.splice(siblings.indexOf(first), 1);
    const promote = action("promote", "Make it the main line", () => (siblings.unshift(...take()), this.state.node));
    const remove = action("remove", "Delete the variation", () => (take(), first.parent ?? first));
    return [promote, remove];
  }

  #draw(): void {
    const { node, assessment } = this.state;
    const { parent } = node;
    const move = assessment?.moves.get(node);
    this.#root.className = `judgment ${move?.judgment ?? ""}`;
    if (!move?.judgment || !parent) {
      this.#root.replaceChildren(...this.#variation(variationOf(node)));
      return;
    }
    const name = move.judgment.charAt(0).toUpperCase() + move.judgment.slice(1);
    const best = move.best ? steps(parent.position, [move.best])[0] : undefined;
    const known = bestScore(parent, this.state);
    const line = best && known?.line[0] === move.best ? steps(parent.position, known.line) : best ? [best] : [];
    const words = best ? `${name}. Best was ` : `${name}.`;
    const actions: LineActions = { preview: this.preview, play: (line) => this.state.play(parent, ...line.map(({ move }) => move)) };
    this.#root.replaceChildren(make("strong", {}, words), ...(line.length > 0 ? [lineMoves(parent.position, line, actions)] : []));
  }
}

/** The next node of a kind of bad move, of one player or both, after the one on the board, or the one before it. */
export function nextOf(state: State, kind: Kind, by: 1 | -1 = 1, color?: "white" | "black"): Node | undefined {
  const line = state.game.mainline();
  let here = line.indexOf(state.node);
  // In a variation the search goes on from where it left the game.
  for (let at = state.node.parent; here === -1 && at; at = at.parent) here = line.indexOf(at);
  const isOne = (node: Node | undefined) => node?.parent && glyphOf(node, state).kind === kind && (!color || node.parent.position.turn === color);
  for (let i = 1; i <= line.length; i++) {
    const node = line[(here + by * i + line.length * 2) % line.length];
    if (isOne(node)) return node;
  }
  return undefined;
}
