import { describe, expect, it } from "vitest";
import { spent, summary } from "../src/database/client";
import { players, slug, surname } from "../src/game/identity";
import { scoreInWords } from "../src/score/known-score";

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

  it("is a part of links and of the names of games", () => {
    const headers = new Map([
      ["White", "Réti, Richard"],
      ["Black", "Alekhine, A"],
      ["Date", "1925.??.??"],
    ]);
    expect(players(headers)).toBe("Réti – Alekhine, 1925");
    expect(slug(headers)).toBe("reti-alekhine-1925");
    for (const [date, year] of [
      ["22.06.1925", ", 1925"],
      ["6/22/1925", ", 1925"],
      ["1925-06-22", ", 1925"],
      ["99999", ""],
      ["22.06.25", ""],
    ] as const)
      expect(players(headers.set("Date", date))).toBe(`Réti – Alekhine${year}`);
  });
});
