import type { Evaluated } from "shelfish/engine";
import { describe, expect, it } from "vitest";
import { Game } from "../src/game/game";
import { bestScore, needsEngine } from "../src/score/known-score";
import { State } from "../src/state/state";

const { root } = new Game();
const { fen } = root;

const found = (
  from: "engine" | "stockfish",
  depth: number,
  knodes: number,
  cp: number,
): Evaluated => ({
  ...{ fen, from, depth, knodes },
  pvs: [{ cp, score: "", uci: ["e2e4"] }],
});

describe("the score of a position", () => {
  it("is that of the report, until a search of the board is deeper and has more nodes", () => {
    const state = new State();
    const score = () => bestScore(root, state)?.cp;
    state.addGameEvals([found("stockfish", 17, 150, 30)]);
    state.addGameEvals([found("engine", 9, 10, 99)]);
    state.addEngineEval(fen, found("engine", 15, 900, 80));
    expect(score()).toBe(30);
    state.databaseEvals.set(fen, null);
    expect(needsEngine(root, state)).toBe(false);
    state.addEngineEval(fen, found("engine", 24, 9_000, 50));
    expect(score()).toBe(50);
  });

  it("is a result in words if endgame tables have it", () => {
    const state = new State();
    const ending = { outcome: "loss", dtz: -3, moves: [] };
    state.addEndgameEvals([[fen, { fen, ...ending } as never]]);
    expect(bestScore(root, state)?.text).toBe("Black wins");
  });
});
