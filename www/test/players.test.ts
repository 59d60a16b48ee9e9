import { describe, expect, it } from "vitest";
import { playerAddress, playerName } from "../src/players/player";

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
});
