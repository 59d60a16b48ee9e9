import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { parseSan } from "chessops/san";
import type { NormalMove } from "chessops/types";
import { parseUci } from "chessops/util";
import type { Played } from "shelfish";
import { describe, expect, it } from "vitest";
import { positionOf } from "../src/game/fen";
import {
  formatPlace,
  parsePlace,
  keysToLookUp,
  lineTo,
  PLIES,
  repeatedMistakes,
  type Repertoire,
  RepertoireBuilder,
  scoreOf,
  START,
} from "../src/repertoire/repertoire";
import { rowsOf } from "../src/repertoire/table";
import { scheduled, type Scheduled } from "../src/repertoire/trainer";
import type { KnownScore } from "../src/score/known-score";

type Result = "1-0" | "0-1" | "1/2-1/2";

/** Returns the legal moves of a line in SAN. */
function movesOf(sans: string): NormalMove[] {
  const position = Chess.default();
  return sans.split(" ").map((san) => {
    const move = parseSan(position, san) as NormalMove;
    position.play(move);
    return move;
  });
}

/** Returns the key of the position after a line in SAN. */
function keyAfter(sans: string): string {
  const position = Chess.default();
  for (const move of movesOf(sans)) position.play(move);
  return makeFen(position.toSetup(), { epd: true });
}

function built(
  games: readonly (readonly [
    side: "white" | "black",
    result: Result,
    sans: string,
  ])[],
): RepertoireBuilder {
  const builder = new RepertoireBuilder();
  for (const [number, [side, result, sans]] of games.entries())
    builder.add(number, side, result, Chess.default(), movesOf(sans));
  return builder;
}

/** Returns the moves from a position as words. */
const wordsOf = (repertoire: Repertoire, key: string) =>
  repertoire.positions
    .get(key)
    ?.moves.map(
      ({ uci, white, draws, black, games }) =>
        `${uci} ${white}-${draws}-${black} ${games.join()}`,
    );

describe("a repertoire", () => {
  it("counts the results of each move by colour, with the numbers of the games", () => {
    const { white, black } = built([
      ["white", "1-0", "e4 e5 Nf3"],
      ["white", "1/2-1/2", "e4 c5"],
      ["white", "0-1", "d4"],
      ["black", "0-1", "e4 e5"],
    ]);
    expect([white.count, black.count]).toEqual([3, 1]);
    expect(wordsOf(white, START)).toEqual(["e2e4 1-1-0 0,1", "d2d4 0-0-1 2"]);
    expect(wordsOf(white, keyAfter("e4"))).toEqual([
      "e7e5 1-0-0 0",
      "c7c5 0-1-0 1",
    ]);
    expect(wordsOf(black, START)).toEqual(["e2e4 0-0-1 3"]);
    expect([
      scoreOf(white.positions.get(START)!.moves[0]!, "white"),
      scoreOf(black.positions.get(START)!.moves[0]!, "black"),
    ]).toEqual([0.75, 1]);
  });

  it("counts a game once for a position, with the last move from it", () => {
    const { white } = built([["white", "1-0", "Nf3 Nf6 Ng1 Ng8 e4"]]);
    expect(wordsOf(white, START)).toEqual(["e2e4 1-0-0 0"]);
  });

  it("joins transpositions, and each position has a line to it", () => {
    const { white } = built([
      ["white", "1-0", "d4 d5 c4 e6"],
      ["white", "1-0", "c4 e6 d4 d5 Nc3"],
      ["white", "1-0", "d4 d5 c4 e6 Nc3"],
    ]);
    const key = keyAfter("d4 d5 c4 e6");
    expect(wordsOf(white, key)).toEqual(["b1c3 2-0-0 1,2"]);
    expect(lineTo(white, key)).toEqual(["d2d4", "d7d5", "c2c4", "e7e6"]);
    for (const at of white.positions.keys()) {
      const position = Chess.default();
      for (const uci of lineTo(white, at)) position.play(parseUci(uci)!);
      expect(makeFen(position.toSetup(), { epd: true })).toBe(at);
    }
  });

  it("leaves out games from other positions, and moves after the limit", () => {
    const builder = new RepertoireBuilder();
    expect(
      builder.add(
        0,
        "white",
        "1-0",
        positionOf("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        [],
      ),
    ).toBe(false);
    const long = movesOf(
      "Nf3 Nf6 e3 e6 Be2 Be7 O-O O-O d3 d6 c3 c6 b3 b6 a3 a6 h3 h6 g3 g6 Bd2 Bd7 Qc2 Qc7 Rd1 Rd8 Kg2 Kg7 Ng1 Ng8 Nf3 Nf6",
    );
    expect(builder.add(1, "white", "1-0", Chess.default(), long)).toBe(true);
    expect(
      Math.max(...[...builder.white.positions.values()].map(({ ply }) => ply)),
    ).toBe(PLIES);
  });
});

const score = (
  cp: number,
  best = "a2a3",
  more: Partial<KnownScore> = {},
): KnownScore => ({
  origin: "database",
  cp,
  text: "",
  chances: 2 / (1 + Math.exp(-0.00368208 * cp)) - 1,
  depth: 30,
  knodes: 1000,
  line: [best],
  ...more,
});

describe("repeated mistakes", () => {
  const bad: readonly (readonly ["white", Result, string])[] = [
    ["white", "0-1", "e4 e5 f4"],
    ["white", "1-0", "e4 e5 f4"],
    ["white", "1-0", "e4 e5 Ke2"],
    ["white", "1-0", "d4 d5 h4"],
    ["white", "1-0", "d4 d5 h4"],
    ["white", "1-0", "d4 d5 h4"],
    ["white", "1-0", "c4 e5 a4"],
    ["white", "1-0", "c4 e5 a4"],
  ];
  const { white } = built(bad);
  const evaluations = new Map([
    [keyAfter("e4 e5"), score(30, "g1f3")],
    [keyAfter("e4 e5 f4"), score(-60)],
    [keyAfter("e4 e5 Ke2"), score(-200)],
    [keyAfter("d4 d5"), score(30, "c2c4")],
    [keyAfter("d4 d5 h4"), score(-40)],
    [keyAfter("c4 e5"), score(30, "b1c3")],
    [keyAfter("c4 e5 a4"), score(20)],
  ]);
  const names = (
    changes: readonly (readonly [string, KnownScore | undefined])[] = [],
  ) =>
    repeatedMistakes(white, new Map([...evaluations, ...changes])).map(
      ({ move, best }) => `${move.uci} ${best}`,
    );

  it("are moves of two games or more that lose the chances of an inaccuracy, by cost", () => {
    const found = repeatedMistakes(white, evaluations);
    expect(found.map(({ move, best }) => `${move.uci} ${best}`)).toEqual([
      "h2h4 c2c4",
      "f2f4 g1f3",
    ]);
    for (const { cost, loss, move } of found)
      expect(cost).toBeCloseTo(loss * move.games.length);
    expect(found[1]!.loss).toBeCloseTo(
      2 / (1 + Math.exp(-0.00368208 * 30)) -
        2 / (1 + Math.exp(0.00368208 * 60)),
    );
  });

  it("need evaluations that are not shallow before and after the move", () => {
    expect(
      names([[keyAfter("d4 d5"), score(30, "c2c4", { depth: 15 })]]),
    ).toEqual(["f2f4 g1f3"]);
    expect(
      names([[keyAfter("d4 d5 h4"), score(-40, "", { knodes: 99 })]]),
    ).toEqual(["f2f4 g1f3"]);
    expect(names([[keyAfter("d4 d5 h4"), undefined]])).toEqual(["f2f4 g1f3"]);
  });

  it("are found from the positions before and after own moves, the most played first", () => {
    const keys = keysToLookUp([white], 100);
    expect(keys.slice(0, 2)).toEqual([START, keyAfter("e4")]);
    expect(new Set(keys)).toEqual(
      new Set(
        [
          "d4",
          "d4 d5",
          "d4 d5 h4",
          "e4",
          "e4 e5",
          "e4 e5 f4",
          "c4",
          "c4 e5",
          "c4 e5 a4",
        ]
          .map(keyAfter)
          .concat(START),
      ),
    );
    expect(keysToLookUp([white], 3)).toHaveLength(3);
  });
});

describe("the book", () => {
  const played = (...ucis: string[]) =>
    ({
      white: 1,
      draws: 0,
      black: 0,
      moves: ucis.map((uci) => ({
        uci,
        san: uci,
        white: 1,
        draws: 0,
        black: 0,
      })),
    }) as unknown as Played;

  it("is in the table below the own moves, which come first", () => {
    const { white } = built([
      ["white", "1-0", "a3"],
      ["white", "1-0", "e4"],
      ["white", "1-0", "e4"],
    ]);
    const rows = rowsOf(white.positions.get(START), played("d2d4", "e2e4"));
    expect(rows.map(({ uci, own, book }) => [uci, !!own, !!book])).toEqual([
      ["e2e4", true, true],
      ["a2a3", true, false],
      ["d2d4", false, true],
    ]);
  });
});

describe("the schedule of training", () => {
  const day = 86_400_000;

  it("asks again after 3, 7, 16 and 35 days of right answers, and after a day of a wrong answer", () => {
    let state: Scheduled | undefined;
    const days = Array.from(
      { length: 5 },
      () => (state = scheduled(state, true, 0)).due / day,
    );
    expect(days).toEqual([3, 7, 16, 35, 35]);
    for (const before of [state, undefined])
      expect(scheduled(before, false, day)).toMatchObject({
        box: 1,
        due: 2 * day,
      });
  });
});

describe("an address", () => {
  it.each([
    [
      {
        player: { site: "lichess", name: "Anna" },
        count: 1000,
        side: "white",
        line: [],
      },
      "lichess=Anna",
    ],
    [
      {
        player: { site: "chess.com", name: "x-1" },
        count: 300,
        side: "black",
        line: ["e2e4", "c7c5"],
      },
      "chess.com=x-1&games=300&color=black&line=e2e4,c7c5",
    ],
  ] as const)("of %j is %s", (place, text) => {
    expect(formatPlace(place)).toBe(text);
    expect(parsePlace(text)).toEqual(place);
  });

  it.each([
    "",
    "lichess=",
    "lichess=a/../b",
    "lichess=<b>",
    "games=7",
    "lichess=" + "x".repeat(99),
  ])("%s contains no player", (text) => {
    expect(parsePlace(text)).toEqual({ count: 1000, side: "white", line: [] });
  });

  it("has a line of limited length", () => {
    expect(
      parsePlace(`line=${Array(500).fill("e2e4").join()}`).line,
    ).toHaveLength(200);
  });
});
