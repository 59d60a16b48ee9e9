import { describe, expect, it } from "vitest";
import famous from "../../static-shards/famous.pgn?raw";
import { InputError } from "../src/text/input-error";
import type { Game, Node } from "../src/game/game";
import { decode, read, survey } from "../src/pgn/read-text";
import { ENGLISH, FOREIGN } from "../src/pgn/letters";
import { split } from "../src/pgn/split";
import { toPgn } from "../src/pgn/write-game";
import mixed from "./data/mixed.pgn?raw";
import movetext from "./data/movetext.tsv?raw";

const sans = (game: Game | undefined) =>
  game
    ?.mainline()
    .map((node) => node.san)
    .join(" ")
    .trim();
const errorOf = (text: string): string => {
  try {
    return `opened as ${read(text).games.map(sans).join("; ")}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe("movetext", () => {
  const cases = movetext
    .split("\n")
    .filter((line) => line && !line.startsWith("#"));
  it.each(cases.map((line) => line.split("\t") as [string, string]))(
    "%s",
    (text, expected) => {
      if (expected.startsWith("!"))
        expect(errorOf(text)).toMatch(new RegExp(expected.slice(1), "i"));
      else expect(sans(read(text).games[0])).toBe(expected);
    },
  );

  it.each(FOREIGN)(
    "of whole games with $language letters is read as in English",
    ({ pieces }) => {
      const foreign = famous.replace(/^(?!\[).*$/gm, (line) =>
        line.replace(/[KQRBN](?=[a-hx1-8]|\s|\+|#|$)/g, (piece) =>
          pieces.charAt(ENGLISH.pieces.indexOf(piece)),
        ),
      );
      expect(foreign).not.toBe(famous);
      expect(read(foreign).games.map(sans)).toEqual(
        read(famous).games.map(sans),
      );
    },
  );

  it("of whole games with figurines is read as in English", () => {
    const figurines = famous.replace(/^(?!\[).*$/gm, (line) =>
      line.replace(/[KQRBN](?=[a-hx1-8]|\s|\+|#|$)/g, (piece) =>
        "♔♕♖♗♘".charAt(ENGLISH.pieces.indexOf(piece)),
      ),
    );
    expect(read(figurines).games.map(sans)).toEqual(
      read(famous).games.map(sans),
    );
  });

  it("has the same meaning in all languages except English", () => {
    for (const a of FOREIGN)
      for (const b of FOREIGN)
        for (const letter of a.pieces)
          expect(
            b.pieces.includes(letter)
              ? b.pieces.indexOf(letter)
              : a.pieces.indexOf(letter),
          ).toBe(a.pieces.indexOf(letter));
    // R is a rook in English and a king in French; without a letter that is not English it is a rook or nothing.
    expect(
      sans(read('[FEN "7k/8/8/8/8/8/8/RK6 w - - 0 1"]\n\n1. Ra2 *').games[0]),
    ).toBe("Ra2");
    expect(
      errorOf('[FEN "7k/8/8/8/8/8/R7/RK6 w - - 0 1"]\n\n1. Rc1 *'),
    ).toMatch(/1\. Rc1 is not a legal move/);
  });
});

describe("a file of games", () => {
  const games = (text: string) =>
    [...split(text)].map(({ index, line, headers }) => [
      index,
      line,
      headers.get("White"),
    ]);

  it("is divided at headers, at first moves after a blank line, and after results", () => {
    expect(games('[White "A"]\n\n1. e4 *\n\n[White "B"]\n1. d4 *')).toEqual([
      [1, 1, "A"],
      [2, 5, "B"],
    ]);
    expect(
      games('[Event "x"] [White "A"] 1. e4 *\n[White "B"] 1. d4 *'),
    ).toEqual([
      [1, 1, "A"],
      [2, 2, "B"],
    ]);
    expect(
      read("1. e4 e5\n2. Nf3 *\n1. d4 d5 *\n\n1. c4 c5").games.map(sans),
    ).toEqual(["e4 e5 Nf3", "d4 d5", "c4 c5"]);
    expect(
      read("1. e4 (\n\n1. d4) 1... e5\n\n2. Nf3 *").games.map(sans),
    ).toEqual(["e4 e5 Nf3"]);
  });

  it("may have byte order marks, carriage returns, escapes, and headers within comments", () => {
    expect(
      read(
        '\uFEFF[White "A"]\r\n\r\n1. e4\r\n% escaped 2. d4\r\ne5 *\r\n',
      ).games.map(sans),
    ).toEqual(["e4 e5"]);
    expect(read('[White "A"]\r\r1. e4 e5 *\r').games.map(sans)).toEqual([
      "e4 e5",
    ]);
    expect(
      read('[White "A"]\n\n1. e4 {\n[White "B"]\n\n1. d4} e5 *').games.map(
        sans,
      ),
    ).toEqual(["e4 e5"]);
    expect(
      read('[White "The "Rock""]\n\n1. e4 *').games[0]!.headers.get("White"),
    ).toBe('The "Rock"');
  });

  it("keeps its names in Latin-1 or UTF-16", () => {
    const text = '[White "Réti"]\n\n1. Nf3 *';
    expect(
      decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0))),
    ).toBe(text);
    expect(decode(new TextEncoder().encode(text))).toBe(text);
    expect(
      decode(
        Uint8Array.of(
          0xff,
          0xfe,
          ...[...text].flatMap((letter) => [letter.charCodeAt(0), 0]),
        ),
      ),
    ).toBe(text);
  });

  it("opens its valid games and lists the invalid games by number, names, line and reason", () => {
    const { games, refused, remark } = read(mixed);
    expect(games.map(sans)).toEqual(["e4 e5", "Kd2", "c4 c5", "Nf3"]);
    expect(
      refused.map(
        ({ index, name, line, reason }) =>
          `${index} ${name} ${line}: ${reason}`,
      ),
    ).toEqual([
      "2 Bad – Move 12: 2. Ke3 is not a legal move (line 12, column 13).",
      "3 Some – Atom 14: The variant “Atomic” is not known here: only standard chess and Chess960 are.",
      "4 Broken – Fen 20: FEN, board: rank 8 (“8k”) has 9 squares instead of 8.",
      "6 Un – Closed 35: A comment begins here and has no end: } is missing (line 35, column 7).",
      "8 Em – Pty 42: The game has no moves.",
      '9 Lost – Header 49: Line 49: “[FEN 4k3/8/8/8/8/8/8/4K3…” should be a header such as [FEN "…"].',
    ]);
    expect(remark).toBe("One variation was cut at an illegal move.");
  });

  it(
    "is checked in slices if it is large, and each game is opened once",
    { timeout: 60_000 },
    async () => {
      const text = Array.from({ length: 40 }, () => famous).join("\n") + mixed;
      const seen: number[] = [];
      const { games, refused } = await survey(
        text,
        new AbortController().signal,
        (_, share) => seen.push(share),
      );
      const once = read(famous).games.length;
      expect(games).toHaveLength(once + 4);
      expect(refused).toHaveLength(39 * once + 6);
      expect(refused[0]?.reason).toBe("It is the same game as game 1.");
      expect(seen.length).toBeGreaterThan(2);
      expect(new Set(games.map((game) => game.id)).size).toBe(
        read(famous).games.length + 4,
      );
      await expect(survey(text, AbortSignal.abort(), () => {})).rejects.toThrow(
        /abort/,
      );
    },
  );
});

describe("random text", () => {
  /** A generator of numbers that are the same in every run. */
  const random = (seed: number) => () =>
    (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const pieces = famous
    .split(/\n(?=\[Event )/)
    .concat(
      mixed,
      movetext,
      "1. e4 {[%eval 0.3] [%clk 0:01:00] a} (1. d4 $4 {b} d5) 1... e5 ; c\n2. f4 (2. Nf3 (2. Nc3)) *",
    );
  const signs = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    '"',
    ";",
    "%",
    "\n",
    "\n\n",
    "1.",
    "$",
    "*",
    "1-0",
    "--",
    "…",
    "♘",
    "S",
    "🙂",
    "\u0000",
    '[FEN "',
    "O-O",
    " ",
  ];

  it("is rejected with a reason, or is a game that survives writing and reading", () => {
    const next = random(7);
    const pick = <T>(list: readonly T[]): T =>
      list[Math.floor(next() * list.length)]!;
    let [opened, refused] = [0, 0];
    const all = (node: Node): unknown[] => [
      node.fen,
      node.notes,
      ...node.children.map(all),
    ];
    for (let round = 0; round < 600; round++) {
      let text = pick(pieces);
      for (let change = 0; change < 1 + (round % 3); change++) {
        const [at, length] = [
          Math.floor(next() * text.length),
          Math.floor(next() * 4),
        ];
        text =
          text.slice(0, at) +
          pick([...signs, pick(pieces).slice(at, at + 20)]) +
          text.slice(at + length);
      }
      try {
        for (const game of read(text).games) {
          opened++;
          const [again] = read(toPgn(game)).games;
          if (!again) throw new Error("lost");
          expect(all(again.root), text).toEqual(all(game.root));
          expect(again.id, text).toBe(game.id);
        }
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        refused++;
      }
    }
    expect(opened).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  }, 60_000);
});
