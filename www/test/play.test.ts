import { parseUci } from "chessops/util";
import { isNormal } from "chessops/types";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Match, restore, store } from "../src/play/match";
import { LEVELS, theory, type Terms } from "../src/play/terms";
import { toPgn } from "../src/game/write-pgn";

const DATE = "2026.01.01";
const match = (terms: Partial<Terms> = {}) =>
  new Match({ side: "white", elo: 1200, ...terms }, DATE);

function play(at: Match, moves: string): Match {
  for (const text of moves.split(" ")) {
    const move = parseUci(text);
    if (!move || !isNormal(move)) throw new Error(text);
    expect(at.play(move), text).toBe(true);
  }
  return at;
}

afterEach(() => vi.unstubAllGlobals());

it("a stronger level knows more theory, and a beginner one move", () => {
  const known = LEVELS.map(([elo]) => theory(elo));
  expect(known).toEqual(known.toSorted((a, b) => a - b));
  expect([known[0], known.at(-1)]).toEqual([2, Infinity]);
});

describe("a game against the engine", () => {
  it("ends by mate, and its PGN has the players and the result", () => {
    const over = play(match(), "f2f3 e7e5 g2g4 d8h4");
    expect(over.outcome).toEqual({ result: "0-1", reason: "Checkmate" });
    expect(toPgn(over.game)).toMatch(
      /\[White "You"\]\n\[Black "Shelfish \(Casual player, 1200\)"\]\n\[Result "0-1"\]/,
    );
    expect(over.play({ from: 8, to: 16 })).toBe(false);
  });

  it.each([
    ["7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", "Stalemate"],
    [
      "7k/8/6K1/8/8/8/6p1/7B w - - 0 1",
      "h1g2",
      "Draw by insufficient material",
    ],
    ["7k/8/6K1/8/8/8/8/5R2 w - - 99 80", "f1f2", "Draw by the fifty-move rule"],
  ])("%s is drawn after %s", (fen, move, reason) => {
    expect(play(match({ fen }), move).outcome).toEqual({
      result: "1/2-1/2",
      reason,
    });
  });

  it("is drawn by threefold repetition", () => {
    const shuffled = play(match(), "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1");
    expect(shuffled.outcome).toBeUndefined();
    expect(play(shuffled, "f6g8").outcome?.reason).toBe(
      "Draw by threefold repetition",
    );
  });

  it("knows the side to move, and takes moves back to the user's last turn", () => {
    const game = match({ side: "black" });
    expect([game.isMine, game.canTakeBack]).toEqual([false, false]);
    play(game, "e2e4");
    expect([game.isMine, game.canTakeBack]).toEqual([true, false]);
    play(game, "e7e5 g1f3");
    game.takeBack();
    expect([game.moves, game.isMine]).toEqual([["e2e4"], true]);
    play(game, "e7e5");
    game.takeBack();
    expect(game.moves).toEqual(["e2e4"]);
    const lost = play(match(), "f2f3 e7e5 g2g4 d8h4");
    lost.takeBack();
    expect([lost.outcome, lost.moves, lost.isMine]).toEqual([
      undefined,
      ["f2f3", "e7e5"],
      true,
    ]);
  });

  it("can be resigned", () => {
    const game = match({ side: "black" });
    game.resign();
    expect(game.outcome).toEqual({ result: "1-0", reason: "You resigned" });
  });
});

describe("a game after the page was closed", () => {
  function storage(content: Record<string, string> = {}) {
    const kept = new Map(Object.entries(content));
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    });
    return kept;
  }

  it("continues with its moves and terms", () => {
    storage();
    const game = match({ side: "black", elo: undefined });
    store(play(game, "e2e4 e7e5 g1f3"));
    const { match: again, terms } = restore(DATE);
    expect(terms).toEqual({ side: "black", elo: undefined });
    expect(again?.moves).toEqual(["e2e4", "e7e5", "g1f3"]);
  });

  it("keeps only its terms after its end", () => {
    storage();
    store(play(match(), "f2f3 e7e5 g2g4 d8h4"));
    expect(restore(DATE)).toEqual({
      terms: { side: "white", elo: 1200 },
    });
  });

  it.each([
    "nonsense",
    "null",
    "7",
    '{"terms":{"side":"green"}}',
    '{"terms":{"side":"white"},"moves":["e2e5"]}',
    '{"terms":{"side":"white","fen":"x"},"moves":["e2e4"]}',
  ])("is ignored if the stored text is %s", (text) => {
    storage({ play: text });
    expect(restore(DATE).match).toBeUndefined();
  });
});
