/** The verdict at the end of a game, in words. */
import { path } from "../game/game";
import { plural } from "../text/units";
import type { Match } from "./match";
import { levelName } from "./terms";

/** Returns who won, how, after how many moves, and against whom. `text` is empty before the end. */
export function verdict({ node, outcome, terms }: Match): {
  title: string;
  text: string;
} {
  if (!outcome) return { title: "", text: "" };
  const { result, reason } = outcome;
  const isWon = result === (terms.side === "white" ? "1-0" : "0-1");
  const title =
    result === "1/2-1/2" ? "A draw" : isWon ? "You won" : "You lost";
  const moves = Math.ceil((path(node).length - 1) / 2);
  const side = terms.side === "white" ? "White" : "Black";
  return {
    title,
    text: `${reason} after ${plural(moves, "move")}. You had ${side} against Shelfish (${levelName(terms.elo)}).`,
  };
}
