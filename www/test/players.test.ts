import { describe, expect, it } from "vitest";
import { studyPath } from "../src/link/sites";
import {
  playerAddress,
  playerName,
  pointsOf,
  sideOf,
} from "../src/players/player";

describe("players", () => {
  it.each([
    ["DrNykterstein", "DrNykterstein"],
    [" anna_b-2 ", "anna_b-2"],
    ["@e4", "e4"],
    ["@Nf6", "Nf6"],
  ])("%s is a user name", (text, name) =>
    expect(playerName(text)).toEqual({ name }),
  );

  it.each([
    "e4",
    "Nf6",
    "a",
    "-anna",
    "e4 e5",
    "x".repeat(31),
    "café",
    "",
    "8/8/8/8",
  ])("%s is no user name", (text) => expect(playerName(text)).toBeUndefined());

  it.each([
    ["https://lichess.org/@/Anna", { site: "lichess", name: "Anna" }],
    ["lichess.org/@/anna/all?page=2", { site: "lichess", name: "anna" }],
    [
      "https://www.chess.com/member/Hikaru",
      { site: "chess.com", name: "Hikaru" },
    ],
    [
      "chess.com/games/archive/hikaru#top",
      { site: "chess.com", name: "hikaru" },
    ],
  ])("%s is the address of a player", (text, player) =>
    expect(playerAddress(text)).toEqual(player),
  );

  it.each([
    "lichess.org/member/anna",
    "chess.com/@/anna",
    "https://lichess.org/q7ZvsdUF",
    "https://evil.example/@/anna",
    "https://lichess.org.evil.example/@/anna",
    "lichess.org/@/a/../b",
    "lichess.org/@/",
  ])("%s is no address of a player", (text) =>
    expect(playerAddress(text)?.name).not.toBe("anna"),
  );

  it("the side and the points are those of the player, whatever the case of the name", () => {
    const game = {
      id: "1",
      url: "",
      time: 1,
      white: { name: "Anna", rating: 1 },
      black: { name: "Bert", rating: 1 },
      result: "1-0",
      speed: "",
      isRated: true,
      opening: "",
      pgn: "",
    } as const;
    expect([
      sideOf({ name: "ANNA" }, game),
      sideOf({ name: "bert" }, game),
      sideOf({ name: "Carl" }, game),
    ]).toEqual(["white", "black", undefined]);
    expect([
      pointsOf(game, "white"),
      pointsOf(game, "black"),
      pointsOf({ result: "1/2-1/2" }, "black"),
    ]).toEqual([1, 0, 0.5]);
  });
});

describe("studies", () => {
  it.each([
    ["https://lichess.org/study/abcdefgh", "abcdefgh"],
    ["lichess.org/study/abcdefgh/ijklmnop?x#3", "abcdefgh/ijklmnop"],
  ])("%s is the address of a study", (text, path) =>
    expect(studyPath(text)).toBe(path),
  );

  it.each([
    "lichess.org/study/short",
    "lichess.org/study/abcdefgh/../x",
    "https://evil.example/lichess.org/study/abcdefgh",
    "lichess.org/study/by/anna",
  ])("%s is not the address of a study", (text) =>
    expect(studyPath(text)).toBeUndefined(),
  );
});
