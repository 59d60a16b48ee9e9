import { describe, expect, it } from "vitest";
import code from "virtual:bookmarklet";
import {
  boardBeside,
  bookmarkletLink,
  fenIn,
  pgnsIn,
} from "../src/bookmarklet/pgn";
import { gameOfPath } from "../src/link/sites";

describe("PGN in a text", () => {
  const cases: [name: string, text: string, found: string[]][] = [
    [
      "ends at the last move, not in the sentence after it",
      "He played 1. e4 e5 2. Nf3 Nc6 and won. 3 points!",
      ["1. e4 e5 2. Nf3 Nc6"],
    ],
    [
      "has its tags, comments, clocks, glyphs and variations",
      'x [White "A \\"B\\""]\n\n1. e4! {[%clk 0:01:00]} e5 $1 (1... c5 2. Nf3 (2. c3)) 2. Nf3 1-0 y',
      [
        '[White "A \\"B\\""]\n\n1. e4! {[%clk 0:01:00]} e5 $1 (1... c5 2. Nf3 (2. c3)) 2. Nf3 1-0',
      ],
    ],
    [
      "is each one that has tags",
      '[White "A"]\n1. e4 e5 *\n\n[White "B"]\n1. d4 d5 2. c4 1/2-1/2',
      ['[White "A"]\n1. e4 e5 *', '[White "B"]\n1. d4 d5 2. c4 1/2-1/2'],
    ],
    [
      "is the longest where none has tags",
      "After 1. d4 d5 Black is fine. 1. e4 e5 2. Bc4 Bc5 3. Qh5 is older than 1.c4 c5.",
      ["1. e4 e5 2. Bc4 Bc5 3. Qh5"],
    ],
    [
      "may have figurines and letters of other languages, which are left as they are",
      "1. e4 e5 2. ♘f3 Sc6 3. Cf3 Кf6",
      ["1. e4 e5 2. ♘f3 Sc6 3. Cf3 Кf6"],
    ],
    [
      "may have castling with zeros, promotions, long moves",
      "1. e2-e4 e7-e5 2. 0-0 O-O-O 3. exd8=Q+ bxa8Q# 4. e.p.",
      ["1. e2-e4 e7-e5 2. 0-0 O-O-O 3. exd8=Q+ bxa8Q#"],
    ],
    [
      "may be a position alone",
      '[FEN "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"]\n\n*',
      ['[FEN "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"]\n\n*'],
    ],
    [
      "may be followed by another one at once",
      "1. e4 e5 1. d4 d5 2. c4 (2. Nf3 Nf6 1. a3) e6",
      ["1. d4 d5 2. c4 (2. Nf3 Nf6 1. a3) e6"],
    ],
    ["is no list of things", "1. Eggs 2. Milk 1. a4 paper", []],
    ["is no single move", "The reply to 1. e4 is a matter of taste", []],
    ["is not what begins later in a game", "12. Nf3 Nc6 13. Bb5", []],
  ];
  it.each(cases)("%s", (_name, text, found) =>
    expect(pgnsIn(text)).toEqual(found),
  );

  it("is found quickly in adversarial text", { timeout: 60_000 }, () => {
    for (const unit of [
      "1. {",
      '[a "',
      "1. e4 (",
      "1.",
      "1. e4 e5 ",
      "rnbqkbnr/",
      "((((",
      "1…",
    ]) {
      const start = performance.now();
      pgnsIn(unit.repeat(5_000));
      fenIn(unit.repeat(5_000));
      expect(performance.now() - start, unit).toBeLessThan(5000);
    }
  });
});

describe("other notation", () => {
  it("recognizes a FEN by its eight ranks and the side to move", () => {
    expect(
      fenIn(
        "see rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2, which",
      ),
    ).toBe("rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R_b_KQkq_-_1_2");
    expect(
      fenIn(
        "https://lichess.org/analysis/standard/8/8/8/4k3/8/4K3/4P3/8_w_-_-_0_1#0",
      ),
    ).toBe("8/8/8/4k3/8/4K3/4P3/8_w_-_-_0_1");
    expect(fenIn("8/8/8/4k3/8/4K3/4P3/8 w")).toBe("8/8/8/4k3/8/4K3/4P3/8_w");
    expect(fenIn("8/8/8/4k3/8/4K3/4P3/8")).toBeUndefined();
    expect(fenIn("a/b/c/d/e/f/g/h w")).toBeUndefined();
  });
});

describe("an address of Lichess", () => {
  it("is a game if the path ends in an id, without the private letters of a player", () => {
    const paths = [
      "/abcd1234",
      "/abcd1234/black",
      "/abcd1234WXYZ",
      "/abcd1234WXYZ/white",
      "/abcd1234/",
      "/embed/game/abcd1234",
      "/embed/abcd1234/white",
    ];
    expect(paths.map((path) => gameOfPath(path)?.id)).toEqual(
      paths.map(() => "abcd1234"),
    );
    const others = [
      "/analysis",
      "/analysis/standard",
      "/@/abcd1234",
      "/study/abcd1234",
      "/abcd123",
      "/abcd12345",
      "/abcd1234/black/analysis",
      "/embed/training",
    ];
    expect(others.map(gameOfPath)).toEqual(others.map(() => undefined));
  });
});

describe("the link", () => {
  it("contains the whole program in less than 6.6 kB", () => {
    expect(new TextEncoder().encode(code).length).toBeLessThan(6600);
  });

  it("uses nothing that a Content-Security-Policy restricts", () => {
    expect(code).not.toMatch(
      /\beval\(|new Function|\bfetch\b|XMLHttpRequest|createElement|innerHTML|insertAdjacent|document\.write|import\(|\.style\b|setTimeout/,
    );
  });

  it("keeps every character through encoding, for any board address", () => {
    const board = "https://example.org/a%20b/?db=https%3A%2F%2Fx.org%2F\"'%25/";
    const link = bookmarkletLink(code, board);
    expect(link).toMatch(/^javascript:[\w\-.!~*'()%]+$/);
    expect(decodeURIComponent(link.slice("javascript:".length))).toBe(
      `void ${code}(${JSON.stringify(board)})`,
    );
  });

  it("contains the address of the board next to the page, with its database", () => {
    expect(boardBeside("https://a.org/x/bookmarklet.html?y=1#z")).toBe(
      "https://a.org/x/",
    );
    expect(
      boardBeside(
        "https://a.org/x/bookmarklet.html?db=https://b.org/d/manifest.json%3Fv=1",
      ),
    ).toBe(
      "https://a.org/x/?db=https%3A%2F%2Fb.org%2Fd%2Fmanifest.json%3Fv%3D1",
    );
  });
});
