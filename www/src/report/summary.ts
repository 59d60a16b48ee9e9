/** The first lines of the report: the accuracy of both players, and the turning points of the game in words. */
import { winningChances } from "../../../crate/js/shared/score.ts";
import { moveText, type Node } from "../game/game";
import { surname } from "../game/identity";
import { make, makeButton } from "../shell/dom";
import type { Assessment, State } from "../state/state";
import { glyphOf } from "./judgment";

/** Number of turning points. */
const MOST = 3;

/** Least winning chances of a player in a game that has this name. */
const GAMES = [
  [0.5, "a won"],
  [0.2, "a better"],
  [-0.2, "an even"],
  [-0.5, "a worse"],
  [-1, "a lost"],
] as const;

const gameOf = (chances: number) =>
  GAMES.find(([least]) => chances >= least)?.[1] ?? "a lost";

/** Returns the accuracy and the settled moves that lost the most, in the order of the game. */
export function summary(
  { report, moves, evaluations }: Assessment,
  state: State,
): HTMLElement[] {
  const accuracy = (["White", "Black"] as const).map((side) => {
    const name = surname(state.game.headers.get(side) ?? side);
    const value = report[side === "White" ? "white" : "black"].accuracy;
    return make(
      "p",
      {},
      make("strong", {}, value === null ? "–" : `${Math.round(value)} %`),
      make("span", {}, `Accuracy of ${name}`),
    );
  });
  const points = [...moves]
    .filter(
      ([, { settled, judgment }]) =>
        settled && /mistake|blunder/.test(judgment ?? ""),
    )
    .sort(([, a], [, b]) => (b.loss ?? 0) - (a.loss ?? 0))
    .slice(0, MOST)
    .sort(([, a], [, b]) => a.ply - b.ply);
  const words = (node: Node, ply: number, loss: number) => {
    const pv = evaluations[ply - 1]?.pvs[0];
    const chances = pv
      ? winningChances(pv) * (node.parent?.position.turn === "white" ? 1 : -1)
      : 0;
    const [from, to] = [gameOf(chances), gameOf(chances - loss)];
    return from === to
      ? ` makes ${from} game harder`
      : ` from ${from} game to ${to} one`;
  };
  return [
    make("div", "accuracy", ...accuracy),
    points.length > 0
      ? make(
          "ol",
          { className: "turning", "data-testid": "turning-points" },
          ...points.map(([node, { ply, loss, judgment }]) =>
            make(
              "li",
              {},
              makeButton(
                {},
                () => state.go(node),
                make(
                  "b",
                  `glyph ${judgment}`,
                  `${moveText(node, true)}${glyphOf(node, state).text}`,
                ),
                words(node, ply, loss ?? 0),
              ),
            ),
          ),
        )
      : make(
          "p",
          "quiet",
          report.settled
            ? "No turning point: neither player made a mistake."
            : "",
        ),
  ];
}
