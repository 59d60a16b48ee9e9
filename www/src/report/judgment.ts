/** Glyphs of moves, the row that judges the last move, and the search of the next judged move. */
import { type Node, steps, variationOf } from "../game/game";
import type { State } from "../state/state";
import { bindPreviewEnd } from "../board/board";
import { byId, make, makeButton } from "../shell/dom";
import { bestLine } from "../score/known-score";
import { type LineActions, lineMoves } from "../evaluation/lines";
import { capitalised } from "../text/words";

/** The kinds of bad moves, from minor to severe. */
export const KINDS = ["inaccuracy", "mistake", "blunder"] as const;

export type Kind = (typeof KINDS)[number];

/** The plural of each kind. */
export const MANY = {
  inaccuracy: "inaccuracies",
  mistake: "mistakes",
  blunder: "blunders",
} as const;

/** The marks of good moves. */
export const MARKS = ["great", "only"] as const;

export type GoodMark = (typeof MARKS)[number];

/** Signs and words of the marks. */
const MARKED: Record<GoodMark, readonly [sign: string, words: string]> = {
  great: ["!", "Great move: the only move that keeps the result"],
  only: ["□", "Only move: every other move loses much"],
};

const GLYPHS = ["", "!", "?", "!!", "??", "!?", "?!"];
const SIGNS: Record<Kind, string> = {
  inaccuracy: "?!",
  mistake: "?",
  blunder: "??",
};

/** The glyph of a move. */
interface Glyph {
  text: string;
  /** The kind of bad move. */
  kind?: Kind;
  /** The mark of a good move. */
  mark?: GoodMark;
}

/** Returns the glyph of a move in the file, or "". */
export const authorGlyph = ({ notes: { nags } }: Node): string =>
  GLYPHS[nags.find((nag) => nag >= 1 && nag <= 6) ?? 0] ?? "";

/** Returns the glyph of a move by the report; empty while deeper searches may change the judgment. */
export function glyphOf(node: Node, state: State): Glyph {
  const move = state.moveReport(node);
  const kind = (move?.settled && move.judgment) || undefined;
  const mark = kind ? undefined : (move?.mark ?? undefined);
  return {
    text: kind ? SIGNS[kind] : mark ? MARKED[mark][0] : "",
    kind,
    mark,
  };
}

/** Returns the meaning of a mark. */
export const markWords = (mark: GoodMark): string => MARKED[mark][1];

/** The row below the moves that judges the last move and shows a better line. */
export class JudgmentRow {
  readonly #root = byId("judgment");

  constructor(
    private readonly state: State,
    private readonly preview: LineActions["preview"],
  ) {
    bindPreviewEnd(this.#root, () => preview());
    state.join(({ node, report }) => (node || report) && this.#draw());
  }

  /** Returns buttons that promote or delete the current variation. */
  #variation(): HTMLElement[] {
    const { state } = this;
    if (!variationOf(state.node)) return [];
    return [
      makeButton("promote", () => state.promote(), "Make it the main line"),
      makeButton("remove", () => state.remove(), "Delete the variation"),
    ];
  }

  #draw(): void {
    const { node } = this.state;
    const { parent } = node;
    const move = this.state.moveReport(node);
    const judgment = move?.settled ? move.judgment : null;
    this.#root.className = `judgment ${judgment ?? ""}`;
    if (!move || !judgment || !parent) {
      const { mark } = parent ? glyphOf(node, this.state) : {};
      this.#root.replaceChildren(
        ...(mark
          ? [make("strong", "good", `${markWords(mark)}.`)]
          : this.#variation()),
      );
      return;
    }
    const best = move.best
      ? steps(parent.position, [move.best.uci])[0]
      : undefined;
    const line = best ? bestLine(parent, best, this.state) : [];
    const reason = move.explanation ? `: ${move.explanation.text}` : "";
    const words = best ? " Best was " : "";
    const actions: LineActions = {
      preview: this.preview,
      play: (line) => this.state.play(parent, ...line.map(({ move }) => move)),
    };
    this.#root.replaceChildren(
      ...this.#variation(),
      make("strong", {}, capitalised(judgment)),
      `${reason}.${words}`,
      ...(line.length > 0 ? [lineMoves(parent.position, line, actions)] : []),
    );
  }
}

/** Finds the next (1) or previous (-1) bad move of a kind, or move with a mark, by one player or both. */
export function nextOf(
  state: State,
  kind: Kind | GoodMark,
  by: 1 | -1 = 1,
  color?: "white" | "black",
): Node | undefined {
  const line = state.game.mainline();
  let here = line.indexOf(state.node);
  // In a variation the search begins at the move of the main line that it leaves.
  for (let at = state.node.parent; here === -1 && at; at = at.parent)
    here = line.indexOf(at);
  for (let i = 1; i <= line.length; i++) {
    const node = line[(here + by * i + line.length * 2) % line.length];
    if (!node?.parent || (color && node.parent.position.turn !== color))
      continue;
    const { text, ...found } = glyphOf(node, state);
    const isAuthors = !text && SIGNS[kind as Kind] === authorGlyph(node);
    if (found.kind === kind || found.mark === kind || isAuthors) return node;
  }
  return undefined;
}
