import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Candidate, choose, sorted, weight } from "../src/play/choice";

interface Case {
  why: string;
  moves: [
    uci: string,
    frequency: number,
    wins: number,
    draws: number,
    losses: number,
  ][];
  min_frequency: number;
  weights: [uci: string, weight: number][];
  chosen: [random: number, uci: string | null][];
}

const cases: Case[] = JSON.parse(
  readFileSync(
    new URL("../../tests/data/choice.json", import.meta.url),
    "utf8",
  ),
);

it.each(cases)(
  "chooses the same moves as the native program: $why",
  ({ moves, min_frequency, weights, chosen }) => {
    const candidates = moves.map(
      ([uci, frequency, wins, draws, losses]): Candidate => ({
        uci,
        frequency,
        wins,
        draws,
        losses,
      }),
    );
    const left = sorted(candidates, min_frequency);
    expect(
      left.map((each) => [each.uci, Math.round(weight(each) * 1e6) / 1e6]),
    ).toEqual(weights);
    for (const [random, uci] of chosen)
      expect(choose(left, random)?.uci ?? null, String(random)).toBe(uci);
  },
);
