/** Glyphs of moves. The author's glyphs take precedence over the page's. */
import type { Node } from "../game/game";
import type { State } from "../state/state";

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
const BY_SIGN: Record<string, Kind> = {
  "?!": "inaccuracy",
  "?": "mistake",
  "??": "blunder",
};

/** The glyph of a move. */
export interface Glyph {
  text: string;
  /** The kind of bad move. */
  kind?: Kind;
  /** The mark of a good move. */
  mark?: GoodMark;
  byAuthor: boolean;
  /** Whether deeper searches may change the judgment. */
  isProvisional: boolean;
}

/** Returns the glyph of a move. */
export function glyphOf(node: Node, state: State): Glyph {
  const nag = node.notes.nags.find((nag) => nag >= 1 && nag <= 6);
  if (nag !== undefined)
    return {
      text: GLYPHS[nag] ?? "",
      kind: BY_SIGN[GLYPHS[nag] ?? ""],
      byAuthor: true,
      isProvisional: false,
    };
  const move = state.moveReport(node);
  const kind = move?.judgment ?? undefined;
  const mark = move?.mark ?? undefined;
  if (!kind && mark)
    return {
      text: MARKED[mark][0],
      mark,
      byAuthor: false,
      isProvisional: false,
    };
  return {
    text: kind ? SIGNS[kind] : "",
    kind,
    byAuthor: false,
    isProvisional: kind !== undefined && !move?.settled,
  };
}

/** Returns the meaning of a mark. */
export const markWords = (mark: GoodMark): string => MARKED[mark][1];
