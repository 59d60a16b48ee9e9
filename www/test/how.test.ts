import keys from "../../tests/data/keys.tsv?raw";
import { describe, expect, it } from "vitest";
import { parentsOf } from "../src/how/pages";
import { canonical, compare, covering, hex, keyOf } from "../src/how/key";

const vectors = keys
  .split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => line.split("\t"));

describe("a key", () => {
  it.each(vectors)("%s", (_, fen, key) => {
    expect(hex(keyOf(String(fen)).bytes)).toBe(key);
  });

  it("consists of its parts", () => {
    const { bytes, parts } = keyOf(
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    );
    expect(parts.flatMap((part) => part.bytes)).toEqual(bytes);
    expect(parts.map((part) => part.bytes.length)).toEqual([
      10, 6, 16, 1, 2, 1,
    ]);
  });
});

describe("a canonical position", () => {
  it("has no counters and no en-passant square without a capture", () => {
    expect(
      canonical("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
    ).toBe("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -");
  });

  it("is an error if the FEN is invalid", () => {
    expect(() => canonical("8/8/8/8/8/8/8/8 w - -")).toThrow();
    expect(() => canonical("what")).toThrow();
  });
});

it("compares byte strings from their first byte; a prefix is smaller", () => {
  expect([
    compare([1, 2], [1, 3]) < 0,
    compare([1], [1, 0]) < 0,
    compare([2], [1, 9]) > 0,
    compare([1], [1]),
  ]).toEqual([true, true, true, 0]);
  expect([
    covering([[], [5], [5, 1]], [5, 0]),
    covering([[], [5], [5, 1]], [5, 1]),
    covering([[], [5]], [4]),
  ]).toEqual([1, 2, 0]);
});

it("finds parents by their distance from the last position", () => {
  // A root, its child, that one's child; then a second child of the root; a second root.
  expect(parentsOf(new Uint8Array([0, 1, 1, 3, 0, 1]))).toEqual([
    -1, 0, 1, 0, -1, 4,
  ]);
});
