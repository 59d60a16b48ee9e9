/** The questions of a game: the position before each bad move of a side. */
import type { Color } from "chessops/types";
import type { Explanation } from "shelfish/analysis";
import { steps } from "../game/game";
import type { Kind } from "../report/glyph";
import type { Assessment } from "../state/state";
import type { Exercise } from "./answer";

export interface Question extends Exercise {
  kind: Kind;
  /** Reason why the move is bad, if it is proven. */
  explanation: Explanation | null;
}

/** Returns the questions of a side in the order of the game. A judgment that may still change is no question. */
export function questionsOf(
  { moves }: Pick<Assessment, "moves">,
  side: Color,
): Question[] {
  return [...moves].flatMap(
    ([mistake, { judgment, settled, best: uci, explanation }]) => {
      const before = mistake.parent;
      if (
        !before ||
        before.position.turn !== side ||
        !judgment ||
        !settled ||
        !uci
      )
        return [];
      const [best] = steps(before.position, [uci]);
      return best
        ? [{ mistake, before, kind: judgment, best, explanation }]
        : [];
    },
  );
}
