import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import type { Played, PlayedMove } from "shelfish";
import { describe, expect, it } from "vitest";
import { Game, type Node, steps } from "../src/game/game";
import type { Limits } from "../src/book/results";
import { choices, gameEnd, targets } from "../src/precedent/rules";

const position = (fen: string) =>
  Chess.fromSetup(parseFen(fen).unwrap()).unwrap();
const results = (white = 0, draws = 0, black = 0) => ({ white, draws, black });

/** Results by move. */
function played(moves: Record<string, number>, ended = results()): Played {
  const list = Object.entries(moves).map(
    ([uci, white]) =>
      ({
        uci,
        san: uci,
        fen: "",
        share: 0,
        points: 0,
        ...results(white),
      }) satisfies PlayedMove,
  );
  const sum = list.reduce((sum, { white }) => sum + white, 0);
  return {
    fen: "",
    white: sum + ended.white,
    draws: ended.draws,
    black: ended.black,
    ended,
    moves: list,
  };
}

/** The last node of a game. */
function node(moves: string, start = Chess.default()): Node {
  const game = new Game(start);
  return steps(start, moves.split(" ").filter(Boolean)).reduce(
    (node, { move }) => game.play(node, move),
    game.root,
  );
}

describe("the moves that can be played", () => {
  it("are the played moves", () => {
    const start = Chess.default();
    const book = played({ e2e4: 5, g1f3: 2 });
    const known = choices(start, book);
    expect(known.map(({ step, games }) => [step.san, games])).toEqual([
      ["e4", 5],
      ["Nf3", 2],
    ]);
    expect(choices(start, played({}))).toEqual([]);
  });

  it("include castling by a move to the king's square or to the rook's", () => {
    const start = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    const book = played({ e1h1: 1, e1a1: 1 });
    const allowed = targets(start, choices(start, book));
    expect(allowed.get("e1")?.sort()).toEqual(["a1", "c1", "g1", "h1"]);
  });
});

describe("the end of a game", () => {
  it("has the number of games that came this far and ended there, and these games", () => {
    const limits: Limits = { max_plies: "2" };
    const tell = (at: Played, before?: Played) =>
      gameEnd(node("e2e4"), at, before, limits);
    expect(tell(played({}, results(3, 8, 1)))).toMatchObject({
      title: "The book ends here.",
      text: "12 games of the book came this far, and 12 ended exactly here.",
    });
    const game = {
      id: "Ab3xYz09",
      url: "https://lichess.org/Ab3xYz09",
      winner: "white",
    } as const;
    const before = played({ e2e4: 1 });
    before.moves.forEach((move) => (move.games = [game]));
    expect(tell(played({}), before)).toEqual({
      title: "You replayed this game.",
      text: "1 game of the book came this far, and 0 ended exactly here. This position is not in the book, which has the first 2 half-moves of each game.",
      games: [game],
    });
  });
});
