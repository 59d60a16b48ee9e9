import type { Played } from "shelfish/book";
import { expect, it } from "vitest";
import { Game, steps } from "../src/game/game";
import { weight } from "../src/play/choice";
import { movesToLearn, merged } from "../src/play/own-book";

function end(moves: string) {
  const game = new Game();
  return steps(game.root.position, moves.split(" ")).reduce(
    (node, { move }) => game.play(node, move),
    game.root,
  );
}

it("a game is a lesson for the moves of both sides", () => {
  const learned = movesToLearn(end("f2f3 e7e5 g2g4 d8h4"), {
    result: "0-1",
    reason: "Checkmate",
  });
  expect(
    learned.map(({ uci, wins, draws, losses }) => [uci, wins, draws, losses]),
  ).toEqual([
    ["f2f3", 0, 0, 1],
    ["e7e5", 1, 0, 0],
    ["g2g4", 0, 0, 1],
    ["d8h4", 1, 0, 0],
  ]);
  expect(learned[0]?.position).toBe(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
  );
});

it("a position counts once, with the last move from it; the final position does not count", () => {
  const learned = movesToLearn(end("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"), {
    result: "1/2-1/2",
    reason: "Draw by threefold repetition",
  });
  expect(learned.map(({ uci, draws }) => [uci, draws])).toEqual([
    ["g8f6", 1],
    ["f3g1", 1],
    ["f6g8", 1],
  ]);
});

it("learned moves outweigh the site's book after some games", () => {
  const results = (white: number, black: number) => ({
    white,
    draws: 0,
    black,
  });
  const move = (uci: string, white: number, black: number) => ({
    uci,
    san: "",
    fen: "",
    share: 0,
    score: 0,
    ...results(white, black),
  });
  const played: Played = {
    fen: "",
    ...results(60_000, 60_000),
    ended: results(0, 0),
    moves: [move("e2e4", 50_000, 50_000), move("d2d4", 10_000, 10_000)],
  };
  const heaviest = (losses: number) => {
    const all = merged("white", played, [
      { uci: "e2e4", frequency: losses, wins: 0, draws: 0, losses },
      { uci: "b2b4", frequency: 3, wins: 3, draws: 0, losses: 0 },
    ]);
    expect(all.map(({ uci }) => uci)).toEqual(["e2e4", "d2d4", "b2b4"]);
    return all.map(weight).map((each) => Math.round(each * 100) / 100);
  };
  expect(heaviest(0)).toEqual([8.33, 1.67, 2.4]);
  expect(heaviest(30)[0]).toBeLessThan(9.1);
  const [site] = merged(
    "black",
    { ...played, moves: [move("e7e5", 3, 1)] },
    [],
  );
  expect(site).toEqual({
    uci: "e7e5",
    frequency: 4,
    wins: 1,
    draws: 0,
    losses: 3,
  });
});
