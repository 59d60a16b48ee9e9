import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { makeUci } from "chessops/util";
import type { Played, PlayedMove } from "shelfish/book";
import { describe, expect, it } from "vitest";
import { Game, type Node, steps } from "../src/game/game";
import type { Limits } from "../src/book/limits";
import {
  allowed,
  choices,
  count,
  legal,
  marks,
  gameEnd,
} from "../src/precedent/rules";

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
        score: 0,
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
  it("are the played moves or all other moves, together every legal move", () => {
    const start = Chess.default();
    const book = played({ e2e4: 5, g1f3: 2 });
    const known = choices(start, book, "precedent");
    expect(known.map(({ step, games }) => [step.san, games])).toEqual([
      ["e4", 5],
      ["Nf3", 2],
    ]);
    const fresh = choices(start, book, "unprecedented").map(
      ({ step }) => step.san,
    );
    expect(fresh).toHaveLength(18);
    expect(new Set([...fresh, "e4", "Nf3"])).toEqual(
      new Set(legal(start).map(({ san }) => san)),
    );
    expect(choices(start, played({}), "precedent")).toEqual([]);
  });

  it("are the rarest moves if all were played", () => {
    const start = Chess.default();
    const all = legal(start).map(
      ({ move }, at) => [makeUci(move), 100 - at] as const,
    );
    expect(
      choices(start, played(Object.fromEntries(all)), "unprecedented").map(
        ({ games }) => games,
      ),
    ).toEqual([81, 82, 83, 84, 85]);
  });

  it("include promotions with their counts", () => {
    const start = position("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1");
    const book = played({ a7a8q: 3, a7a8n: 1, a7b8r: 2 });
    const { dests, offers } = allowed(start, choices(start, book, "precedent"));
    expect([...dests]).toEqual([["a7", ["a8", "a8", "a8", "a8", "b8", "b8"]]]);
    expect([...offers(48, 56)]).toEqual([
      ["queen", "3"],
      ["knight", "1"],
    ]);
    expect([...offers(48, 57)]).toEqual([["rook", "2"]]);
    const fresh = allowed(start, choices(start, book, "unprecedented"));
    expect([...fresh.offers(48, 56).keys()].sort()).toEqual(["bishop", "rook"]);
  });

  it("include castling by a move to the king's square or to the rook's", () => {
    const start = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    const { dests } = allowed(
      start,
      choices(start, played({ e1h1: 1, e1a1: 1 }), "precedent"),
    );
    expect(dests.get("e1")?.sort()).toEqual(["a1", "c1", "g1", "h1"]);
    expect([
      ...marks(start, choices(start, played({ e1h1: 7 }), "precedent")),
    ]).toEqual([["g1", "7"]]);
  });
});

describe("counts on squares", () => {
  it("are sums over all pieces, or counts of the selected piece", () => {
    const start = position("4k3/8/8/8/8/8/8/R3K2R w - - 0 1");
    const all = choices(
      start,
      played({ a1d1: 3, e1d1: 4, h1h8: 1_000 }),
      "precedent",
    );
    expect([...marks(start, all)]).toEqual([
      ["d1", "7"],
      ["h8", "1.0k"],
    ]);
    expect([...marks(start, all, "a1")]).toEqual([["d1", "3"]]);
    expect(marks(start, choices(start, played({}), "unprecedented")).size).toBe(
      0,
    );
  });

  it("have three figures at most", () => {
    const told = [
      1, 999, 1_000, 1_049, 9_949, 9_951, 99_500, 999_499, 999_500, 1_000_000,
      56_000_000, 1_200_000_000,
    ].map(count);
    expect(told).toEqual([
      "1",
      "999",
      "1.0k",
      "1.0k",
      "9.9k",
      "10k",
      "100k",
      "999k",
      "1.0M",
      "1.0M",
      "56M",
      "1.2B",
    ]);
  });
});

describe("the end of a game", () => {
  const tell = (
    moves: string,
    at: Played,
    before?: Played,
    limits: Limits = {},
  ) => {
    const { title, text } = gameEnd(
      node(moves),
      at,
      before,
      "precedent",
      limits,
    );
    return `${title} ${text}`;
  };

  it("contains the number of games that ended in the same position", () => {
    expect(tell("e2e4", played({}, results(3, 8, 1)))).toBe(
      "12 games ended exactly here. White won 3, Black won 1, 8 were drawn.",
    );
    expect(tell("e2e4", played({}, results(0, 1)))).toBe(
      "You replayed this game. It ended exactly here.",
    );
    expect(tell("f2f3 e7e5 g2g4 d8h4", played({}, results(0, 0, 4)))).toBe(
      "Checkmate. 4 games ended exactly here.",
    );
  });

  it("differs from the end of the book", () => {
    const limits = { max_plies: "2", min_games: "5" };
    expect(tell("e2e4 e7e5", played({}, results(9)), undefined, limits)).toBe(
      "The book ends here. 9 games came this far; the book has the first 2 half-moves of each.",
    );
    const whole = { ...limits, max_plies: "1", whole_games: "4" };
    expect(tell("e2e4", played({}, results(9)), undefined, whole)).toBe(
      "The book ends here. 9 games came this far; the book has the first 1 half-moves of each.",
    );
    expect(tell("e2e4 e7e5", played({}, results(1)), undefined, whole)).toBe(
      "You replayed this game. 1 game came this far; the book goes no further.",
    );
    expect(tell("e2e4", played({}), played({ e2e4: 3 }), limits)).toBe(
      "The book ends here. 3 games of the book played e4. The book has only positions that at least 5 games reached.",
    );
    expect(tell("e2e4", played({}), played({ e2e4: 1 }), limits)).toMatch(
      /^You replayed this game\. Only one game of the book played e4 here\./,
    );
    expect(tell("", played({}))).toBe(
      "No precedent in this book. This position is not in the book.",
    );
  });

  it("contains the games of the book that ended the same way", () => {
    const game = {
      id: "Ab3xYz09",
      url: "https://lichess.org/Ab3xYz09",
      winner: "white",
    } as const;
    const of = (at: Played, before?: Played) =>
      gameEnd(node("e2e4"), at, before, "precedent", {}).games;
    const ended = played({}, results(1));
    expect(of({ ...ended, ended: { ...ended.ended, games: [game] } })).toEqual([
      game,
    ]);
    const before = played({ e2e4: 1 });
    expect(
      of(played({}), {
        ...before,
        moves: before.moves.map((move) => ({ ...move, games: [game] })),
      }),
    ).toEqual([game]);
    expect(of(ended)).toEqual([]);
  });

  it("has another text without precedents", () => {
    const tell = (moves: string) =>
      gameEnd(node(moves), played({}), undefined, "unprecedented", {});
    expect(tell("f2f3 e7e5 g2g4 d8h4")).toEqual({
      title: "Checkmate.",
      text: "This position is not in the book.",
      games: [],
    });
  });
});
