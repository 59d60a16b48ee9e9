// Writes the table of openings.ts from the lists in `build-tools/shelfish/openings/`: node openings-table.mjs TABLE
import { readFileSync, writeFileSync } from "node:fs";
import { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";

const [table] = process.argv.slice(2);

const list = new URL("../../build-tools/shelfish/openings/", import.meta.url);
const texts = ["a", "b", "c", "d", "e"].map((volume) =>
  readFileSync(new URL(`${volume}.tsv`, list), "utf8"),
);

/** Encodes a number from 0 to 91 as a letter. */
const letter = (number) => String.fromCharCode(35 + number);

const all = texts
  .flatMap((text) => text.trim().split("\n").slice(1))
  .map((line) => {
    const [eco, name, pgn] = line.split("\t");
    const position = Chess.default();
    const moves = [];
    for (const word of pgn.split(" ").filter((word) => !word.endsWith("."))) {
      const move = parseSan(position, word);
      if (!move) throw new Error(`openings: ${word} is not legal in “${name}”`);
      if (move.promotion)
        throw new Error(
          `openings: “${name}” has a promotion, which the table cannot contain`,
        );
      moves.push(letter(move.from) + letter(move.to));
      position.play(move);
    }
    return { eco, name, moves };
  });
const order = ({ moves }) => moves.join("");
all.sort((a, b) => (order(a) < order(b) ? -1 : 1));

/** Encodes lists: the number of parts that equal the previous list, and the remaining parts. */
const encode = (lists) =>
  lists
    .map((parts, n) => {
      const previous = lists[n - 1] ?? [];
      const end = parts.findIndex((part, at) => part !== previous[at]);
      const count = end < 0 ? parts.length : end;
      return (
        letter(Math.min(count, 91)) + parts.slice(Math.min(count, 91)).join("")
      );
    })
    .join("\n");

const columns = {
  ecos: all.map(({ eco }) => eco).join(""),
  names: encode(all.map(({ name }) => [...name])),
  moves: encode(all.map(({ moves }) => moves)),
};
writeFileSync(
  table,
  Object.entries(columns)
    .map(
      ([name, text]) =>
        `export const ${name}: string = ${JSON.stringify(text)};\n`,
    )
    .join(""),
);
