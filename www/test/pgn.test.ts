import { describe, expect, it } from "vitest";
import famous from "../../static-shards/famous.pgn?raw";
import type { Node } from "../src/game/game";
import { read, survey } from "../src/game/read-pgn";
import { fileName, toPgn } from "../src/game/write-pgn";

const errorOf = async (text: string): Promise<string> => {
  try {
    await read(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("pasted text", () => {
  it("is read as a FEN with four or six fields", async () => {
    for (const fen of [
      "8/8/8/4k3/8/4K3/4P3/8 w - -",
      " 8/8/8/4k3/8/4K3/4P3/8 w - - 12 60\n",
    ])
      expect((await read(fen)).games[0]!.root.fen).toContain(
        "8/8/8/4k3/8/4K3/4P3/8 w - -",
      );
  });

  it("is read as a PGN with headers, comments and variations", async () => {
    const { games, remark } = await read(
      '[White "Morphy, Paul"]\n[Black "?"]\n\n1. e4 {best by test} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 Nc6 *',
    );
    expect(remark).toBeUndefined();
    expect(games[0]!.mainline().map((node) => node.san)).toEqual([
      "",
      "e4",
      "e5",
      "Nf3",
      "Nc6",
    ]);
    expect(
      games[0]!.root.children[0]!.children.map((node) => node.san),
    ).toEqual(["e5", "c5"]);
    expect([...games[0]!.headers.keys()]).toEqual(["White"]);
    expect(games[0]!.sourcePlies).toBe(4);
  });

  it("loses an illegal variation and reports it", async () => {
    const { games, remark } = await read(
      "1. e4 e5 (1... e6 2. e5 Ke6) 2. Nf3 *",
    );
    expect(games[0]!.mainline()).toHaveLength(4);
    expect(remark).toMatch(/1 variation ended early/);
  });

  it.each([
    ["", /Nothing to open/],
    ["1. Ke3", /Ke3 is not a legal move/],
    ['[Variant "Atomic"]\n\n1. e4 *', /variant is Atomic/],
    ['[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 *', /board is empty/],
    ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq -", /board: .* eight ranks/],
    [
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq -",
      /side to move: “x”/,
    ],
    [
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQxy -",
      /castling: “KQxy”/,
    ],
    [
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9",
      /en passant: “e9”/,
    ],
    [
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - x 1",
      /half-move clock: “x”/,
    ],
    [
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 and more",
      /six fields/,
    ],
    ["8/8/8/8/8/8/8/K7 w - -", /exactly one king/],
    ["P7/8/8/8/8/8/8/K6k w - -", /pawn on the first or the last rank/],
    ["7k/8/8/8/8/8/8/K6R w - -", /not to move is in check/],
  ])("%j is rejected with an error", async (text, message) => {
    expect(await errorOf(text)).toMatch(message);
  });

  it("ignores a mate in 0", async () => {
    const { games } = await read("1. e4 {[%eval #0]} e5 {[%eval #2]} *");
    const given = games[0]!.mainline().map(({ notes }) => notes.given);
    expect(given).toEqual([undefined, undefined, { mate: 2 }]);
  });

  it("keeps the moves before an illegal move, and names the place", async () => {
    const { games, remark } = await read("1. e4 e5\n2. Ke3 Nc6");
    expect(games[0]!.mainline()).toHaveLength(3);
    expect(remark).toBe(
      "Game 1 ends early: line 2, column 4: 2. Ke3 is not a legal move.",
    );
  });

  it("is checked in slices if it is long, and each game is opened once", async () => {
    const text = Array.from({ length: 40 }, () => famous).join("\n");
    let pauses = 0;
    const timer = setInterval(() => pauses++);
    const opened: string[] = [];
    const { games, refused } = await survey(
      text,
      new AbortController().signal,
      (game) => opened.push(game.headers.get("White") ?? ""),
    );
    const once = (await read(famous)).games.length;
    expect(opened).toEqual(["Kasparov, Gary"]);
    expect([games.length, refused.length]).toEqual([once, 39 * once]);
    expect(refused[0]?.reason).toBe("It is the same game as game 1.");
    clearInterval(timer);
    expect(pauses).toBeGreaterThan(2);
    await expect(survey(text, AbortSignal.abort(), () => {})).rejects.toThrow(
      /abort/,
    );
  }, 60_000);
});

describe("annotations of a PGN", () => {
  it("are kept: comments, glyphs, clocks, evaluations, drawings", async () => {
    const [game] = (
      await read(
        '[White "A"]\n\n{A word before.} 1. e4 $1 $14 {[%eval 0.33,20] [%clk 0:05:00] Best by test. [%csl Ga4][%cal Re2e4]} e5 {[%eval #-3] [%emt 0:00:07]} ({Or} 1... c5?! {sharp}) 2. Nf3!? *',
      )
    ).games;
    expect(game!.root.notes).toEqual({ nags: [], comment: "A word before." });
    const [, e4, e5, nf3] = game!.mainline();
    expect(e4!.notes).toEqual({
      nags: [1, 14],
      comment: "Best by test.",
      clock: 300,
      given: { cp: 33, depth: 20 },
      shapes: [
        { color: "green", from: 24, to: 24 },
        { color: "red", from: 12, to: 28 },
      ],
    });
    expect(e5!.notes).toEqual({ nags: [], given: { mate: -3 }, elapsed: 7 });
    expect(e4!.children[1]!.notes).toEqual({
      nags: [6],
      before: "Or",
      comment: "sharp",
    });
    expect(nf3!.notes.nags).toEqual([5]);
  });

  it("survive writing and reading", async () => {
    const text =
      '[White "A \\"B\\" C"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30"]\n\n{Start} 30... Kd7 $2 {[%eval 1.50] [%clk 1:02:03.5]} (30... Ke7 {other}) 31. e4 {[%cal Ge2e4]} *';
    const [game] = (await read(text)).games;
    const [again] = (await read(toPgn(game!))).games;
    expect(toPgn(again!)).toBe(toPgn(game!));
    const all = (node: Node): unknown[] => [
      node.fen,
      node.notes,
      ...node.children.map(all),
    ];
    expect(all(again!.root)).toEqual(all(game!.root));
    expect(again!.headers.get("White")).toBe('A "B" C');
    expect(fileName(game!)).toBe("a-b-c.pgn");
  });

  it("allow to open the valid games of a text and to list the invalid games", async () => {
    const { games, refused } = await read(
      '[White "A"]\n[Black "B"]\n\n1. e4 *\n\n[White "C"]\n[Black "D"]\n\n1. e5 *\n\n[Variant "Atomic"]\n\n1. d4 *\n\n[White "E"]\n\n1. c4 *',
    );
    expect(games.map((game) => game.headers.get("White"))).toEqual(["A", "E"]);
    expect(refused).toMatchObject([
      { index: 2, name: "C – D", reason: expect.stringMatching(/e5/) },
      { index: 3, reason: expect.stringMatching(/Atomic/) },
    ]);
  });
});
