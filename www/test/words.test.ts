import { describe, expect, it } from "vitest";
import { spent, summary } from "../src/database/client";
import { duration, plural, size } from "../src/text/words";
import { players, slug, surname } from "../src/game/identity";
import { nodesText, scoreInWords } from "../src/score/known-score";

describe("a score", () => {
  it("is put in words", () => {
    expect(
      [{ cp: 20 }, { cp: -125 }, { cp: 0 }, { mate: 3 }, { mate: -5 }].map(
        scoreInWords,
      ),
    ).toEqual([
      "White is better by 0.20",
      "Black is better by 1.25",
      "Equal",
      "White mates in 3",
      "Black mates in 5",
    ]);
  });

  it("has a text for the number of searched nodes", () => {
    expect([575, 1210, 45_678, 4_500_000].map(nodesText)).toEqual([
      "575 kn",
      "1.2 Mn",
      "46 Mn",
      "4.5 Gn",
    ]);
  });
});

describe("a cost", () => {
  const none = {
    requests: 0,
    bytes: 0,
    memoryHits: 0,
    indexedDBHits: 0,
    networkBlocks: 0,
  };

  it("names the sources of the answer", () => {
    const from = (after: Partial<typeof none>) =>
      summary(spent(none, { ...none, ...after }, 12.3));
    expect(from({ requests: 1, bytes: 11_240, networkBlocks: 1 })).toBe(
      "1 request · 11.2 kB · 12 ms · from the network",
    );
    expect(from({ indexedDBHits: 1 })).toBe(
      "0 requests · 0 B · 12 ms · from IndexedDB",
    );
    expect(from({ memoryHits: 1 })).toBe(
      "0 requests · 0 B · 12 ms · from memory",
    );
  });

  it("is short", () => {
    expect([999, 1000, 123_456, 5_400_000].map(size)).toEqual([
      "999 B",
      "1.0 kB",
      "123 kB",
      "5.4 MB",
    ]);
    expect([0.01, 0.25, 43.2, 12_345].map(duration)).toEqual([
      "under 0.1 ms",
      "0.3 ms",
      "43 ms",
      "12.3 s",
    ]);
    expect([plural(1, "request"), plural(1574, "position")]).toEqual([
      "1 request",
      "1,574 positions",
    ]);
  });
});

describe("a name", () => {
  it("is shortened", () => {
    const names = {
      "Kasparov, Gary": "Kasparov",
      "Aronian,L": "Aronian",
      "Carlsen, Magnus (NOR)": "Carlsen",
      "Comp Deep Blue": "Deep Blue",
      "Von Bardeleben, K": "Bardeleben",
      "": "?",
      "?": "?",
      ", Anna": "?",
    };
    expect(Object.keys(names).map(surname)).toEqual(Object.values(names));
  });

  it("without a comma stays whole, and a level in brackets is not a part of it", () => {
    const names = {
      "Bu Xiangzhi": "Bu Xiangzhi",
      "Paul Morphy": "Paul Morphy",
      "Shelfish (Casual player, 1200)": "Shelfish",
      "Stockfish 17 (3200)": "Stockfish 17",
      "(unknown)": "(unknown)",
    };
    expect(Object.keys(names).map(surname)).toEqual(Object.values(names));
    expect(
      slug(
        new Map([
          ["White", "Bu Xiangzhi"],
          ["Black", "Carlsen, M"],
        ]),
      ),
    ).toBe("bu-xiangzhi-carlsen-");
  });

  it("is a part of links and of the names of games", () => {
    const headers = new Map([
      ["White", "Réti, Richard"],
      ["Black", "Alekhine, A"],
      ["Date", "1925.??.??"],
    ]);
    expect(players(headers)).toBe("Réti – Alekhine, 1925");
    expect(slug(headers)).toBe("reti-alekhine-1925");
  });
});
