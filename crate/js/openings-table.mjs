// Makes the table of `openings.ts` out of the list in `build-tools/shelfish/openings/`: node openings-table.mjs TABLE
import { readFileSync, writeFileSync } from "node:fs";
import { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";

const [table] = process.argv.slice(2);
if (!table) throw new Error("usage: openings-table.mjs TABLE");

const list = new URL("../../build-tools/shelfish/openings/", import.meta.url);
const texts = ["a", "b", "c", "d", "e"].map((volume) => readFileSync(new URL(`${volume}.tsv`, list), "utf8"));

/** A number from 0 to 91 as a letter. */
const letter = (number) => String.fromCharCode(35 + number);

const all = texts.flatMap((text) => text.trim().split("\n").slice(1)).map((line) => {
  const [eco, name, pgn] = line.split("\t");
  const position = Chess.default();
  const moves = [];
  for (const word of pgn.split(" ").filter((word) => !word.endsWith("."))) {
    const move = parseSan(position, word);
    if (!move) throw new Error(`openings: ${word} is not legal in “${name}”`);
    if (move.promotion) throw new Error(`openings: “${name}” has a promotion, which the table has no place for`);
    moves.push(letter(move.from) + letter(move.to));
    position.play(move);
  }
  return { eco, name, moves };
});
const order = ({ moves }) => moves.join("");
all.sort((a, b) => (order(a) < order(b) ? -1 : 1));

/** Of each list, how many of its parts are those of the one before, and the others. */
const shared = (lists) => lists.map((parts, n) => {
  const before = lists[n - 1] ?? [];
  const end = parts.findIndex((part, at) => part !== before[at]);
  const count = end < 0 ? parts.length : end;
  return letter(Math.min(count, 91)) + parts.slice(Math.min(count, 91)).join("");
}).join("\n");

const columns = {
  ecos: all.map(({ eco }) => eco).join(""),
  names: shared(all.map(({ name }) => [...name])),
  moves: shared(all.map(({ moves }) => moves)),
};
writeFileSync(table, Object.entries(columns).map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`).join(""));
