import { describe, expect, it } from "vitest";
import { siteAddress } from "../src/link/sites";

describe("a pasted address", () => {
  it.each([
    ["https://lichess.org/q7ZvsdUF", { kind: "lichess", id: "q7ZvsdUF" }],
    ["lichess.org/q7ZvsdUFabcd", { kind: "lichess", id: "q7ZvsdUF" }],
    [
      "http://www.lichess.org/q7ZvsdUF/black#31",
      { kind: "lichess", id: "q7ZvsdUF", side: "black", ply: 31 },
    ],
    [
      "https://lichess.org/game/export/q7ZvsdUF",
      { kind: "lichess", id: "q7ZvsdUF" },
    ],
    [
      "https://lichess.org/embed/q7ZvsdUF/black?theme=auto",
      { kind: "lichess", id: "q7ZvsdUF", side: "black" },
    ],
    [
      "https://lichess.org/analysis/8/8/8/4k3/8/4K3/4P3/8_w_-_-_0_1",
      { kind: "fen", fen: "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1" },
    ],
    ["q7ZvsdUF", { kind: "lichess", id: "q7ZvsdUF" }],
    ["tomorrow", undefined],
    ["e2e4e7e5", undefined],
    ["8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", undefined],
  ])("%s is understood", (text, expected) =>
    expect(siteAddress(text)).toEqual(expected),
  );

  it.each([
    [
      "https://lichess.org/study/abcdefgh/ijklmnop",
      /study.*download or copy the PGN/,
    ],
    ["https://lichess.org/training", /is not a game/],
    ["https://lichess.org/q7ZvsdUF\\..\\javascript:alert(1)", /is not a game/],
    ["https://lichess.org//[", /is not a game/],
    ["https://www.chess.com/game/live/145591166861", /Share, then PGN/],
    ["https://example.org/game.pgn", /Only addresses of Lichess/],
  ])("%s is rejected with advice", (text, message) =>
    expect(() => siteAddress(text)).toThrow(message),
  );
});
