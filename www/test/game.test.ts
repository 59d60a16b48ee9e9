import { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";
import { describe, expect, it } from "vitest";
import { ending, Game, squares, steps } from "../src/game/game";
import { positionOf as at } from "../src/game/fen";
import { typedMove } from "../src/game/read-pgn";

describe("a game", () => {
  it("keeps a second move from a position as a variation", () => {
    const game = new Game();
    const play = (from: typeof game.root, san: string) =>
      game.play(from, parseSan(from.position, san)!);
    const e4 = play(game.root, "e4");
    play(e4, "e5");
    play(e4, "c5");
    expect(game.mainline().map((node) => node.san)).toEqual(["", "e4", "e5"]);
    expect(e4.children.map((node) => node.san)).toEqual(["e5", "c5"]);
    expect(play(e4, "c5")).toBe(e4.children[1]);
  });

  it("knows when it is over", () => {
    expect(
      ending(
        at("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"),
      ),
    ).toMatchObject({ result: "0-1", title: "Checkmate" });
    expect(ending(at("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"))).toMatchObject({
      result: "½-½",
    });
    expect(ending(Chess.default())).toBeUndefined();
  });
});

describe("a typed move", () => {
  it.each([
    ["Nf3", "g1f3"],
    ["e4!?", "e2e4"],
  ])("%s is understood", async (text, uci) => {
    expect(await typedMove(Chess.default(), text)).toEqual(
      steps(Chess.default(), [uci])[0]!.move,
    );
  });

  it("castles in every notation", async () => {
    const position = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    const castled = (await typedMove(position, "O-O"))!;
    for (const name of ["0-0", "o-o", "e1g1", "e1h1"])
      expect(await typedMove(position, name)).toEqual(castled);
    expect(squares(position, castled)).toEqual(["e1", "g1"]);
  });

  it("promotes only with the letter of a piece", async () => {
    const position = at("8/P6k/8/8/8/8/8/K7 w - - 0 1");
    expect(await typedMove(position, "a8=N")).toMatchObject({
      promotion: "knight",
    });
    expect(await typedMove(position, "a8")).toBeUndefined();
  });

  it("is rejected if the move is not legal", async () => {
    for (const text of ["e5", "Ke2", "", "x", "e2e5", "Df3", "--"])
      expect(await typedMove(Chess.default(), text)).toBeUndefined();
  });
});
