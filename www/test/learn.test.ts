import type { Report } from "shelfish/analysis";
import { describe, expect, it } from "vitest";
import { Game, type Node, steps } from "../src/game/game";
import { questionsOf } from "../src/learn/answer";

type Move = Report["moves"][number];

/** Returns the main line 1. e4 e5 2. Ke2 Ke7 with these reports, by ply. */
function assessed(reports: Record<number, Partial<Move>>): {
  moves: Map<Node, Move>;
} {
  const game = new Game();
  let node = game.root;
  for (const { move } of steps(node.position, ["e2e4", "e7e5", "e1e2", "e8e7"]))
    node = game.play(node, move);
  const line = game.mainline();
  return {
    moves: new Map(
      Object.entries(reports).map(([ply, report]) => [
        line[Number(ply)]!,
        {
          judgment: null,
          settled: true,
          best: null,
          explanation: null,
          ...report,
        } as Move,
      ]),
    ),
  };
}

const words = (
  moves: Map<Node, Move>,
  side: "white" | "black",
  areMinor = false,
) =>
  questionsOf({ moves }, side, areMinor).map(
    ({ mistake, before, fault, best }) =>
      `${before.ply} ${mistake.san} ${fault} ${best.san}`,
  );

describe("questions", () => {
  it("are the settled mistakes and blunders of a side, or its inaccuracies", () => {
    const { moves } = assessed({
      1: { judgment: "inaccuracy", best: { uci: "d2d4", san: "d4" } },
      2: {},
      3: { judgment: "mistake", best: { uci: "g1f3", san: "Nf3" } },
      4: { judgment: "blunder", best: { uci: "g8f6", san: "Nf6" } },
    });
    expect(words(moves, "white")).toEqual(["2 Ke2 a mistake Nf3"]);
    expect(words(moves, "white", true)).toEqual(["0 e4 an inaccuracy d4"]);
    expect(words(moves, "black")).toEqual(["3 Ke7 a blunder Nf6"]);
  });

  it("are not judgments that may change, and not moves without a known better move", () => {
    const { moves } = assessed({
      3: {
        judgment: "mistake",
        best: { uci: "g1f3", san: "Nf3" },
        settled: false,
      },
      4: { judgment: "blunder" },
    });
    expect([...words(moves, "white"), ...words(moves, "black")]).toEqual([]);
  });
});
