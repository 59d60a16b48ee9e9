import type { Played } from "shelfish/book";
import { describe, expect, it } from "vitest";
import { lastInBook, noveltyText } from "../src/report/novelty";
import { read } from "../src/game/read-pgn";

const line = (await read("1. e4 e5 2. Nf3 Nc6 *")).games[0]!.mainline();

/** Returns a book with these moves of the first positions of the line. */
const bookOf = (...moves: string[][]) =>
  new Map(
    moves.map((ucis, ply) => [
      line[ply]!.fen,
      {
        white: 3,
        draws: 2,
        black: 1,
        moves: ucis.map((uci) => ({ uci })),
      } as unknown as Played,
    ]),
  );

describe("the novelty", () => {
  it("is the first move that the book does not have, if the book has other moves there", () => {
    const found = lastInBook(
      line,
      bookOf(["e2e4", "d2d4"], ["e7e5"], ["f1c4"], ["b8c6"]),
    );
    expect(found?.novelty?.san).toBe("Nf3");
    expect(noveltyText(found, "King's Pawn Game")).toBe(
      "2. Nf3 is the first move that is not in this book. 6 games of the book reached the position before it (King's Pawn Game).",
    );
  });

  it("is unknown if the book ends", () => {
    const found = lastInBook(line, bookOf(["e2e4"], ["e7e5"], []));
    expect(found?.novelty).toBeUndefined();
    expect(noveltyText(found, undefined)).toBe(
      "The moves of the game are in this book up to 1… e5, where the book ends.",
    );
  });

  it("is missing if all moves are in the book, or if the first position is not", () => {
    expect(
      noveltyText(
        lastInBook(
          line,
          bookOf(["e2e4"], ["e7e5"], ["g1f3"], ["b8c6"], ["f1b5"]),
        ),
        undefined,
      ),
    ).toBe("All moves of the game are in this book.");
    expect(
      noveltyText(
        lastInBook(line, bookOf(["e2e4"], ["e7e5"], ["g1f3"], ["b8c6"])),
        undefined,
      ),
    ).toBe("All moves of the game are in this book.");
    expect(noveltyText(lastInBook(line, bookOf([])), undefined)).toBe(
      "The first position of the game is not in this book.",
    );
  });
});
