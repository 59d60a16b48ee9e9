/** The questions of a game: the position before each bad move of a side. */
import type { Explanation } from "shelfish/analysis";
import { type Node, type Step, steps } from "../game/game";
import type { Kind } from "../report/glyph";
import type { Assessment } from "../state/state";

export type Side = "white" | "black";

export interface Question {
  /** The bad move, with the position after it. */
  mistake: Node;
  /** The position before the bad move. */
  before: Node;
  kind: Kind;
  best: Step;
  /** Reason why the move is bad, if it is proven. */
  explanation: Explanation | null;
}

/** Returns the questions of a side in the order of the game. A judgment that may still change is no question. */
export function questionsOf({ moves }: Pick<Assessment, "moves">, side: Side): Question[] {
  return [...moves].flatMap(([mistake, { judgment, settled, best: uci, explanation }]) => {
    const before = mistake.parent;
    if (!before || before.position.turn !== side || !judgment || !settled || !uci) return [];
    const [best] = steps(before.position, [uci]);
    return best ? [{ mistake, before, kind: judgment, best, explanation }] : [];
  });
}
