/** Makes the table of opening names out of data/eco/*.tsv, as the module `virtual:openings` (read by src/openings.ts). */
import { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";
import type { Plugin } from "vite";
import { keyOf } from "../src/openings-key";

const ID = "virtual:openings";
const FILES = ["a", "b", "c", "d", "e"].map((volume) => new URL(`../data/eco/${volume}.tsv`, import.meta.url).pathname);

/** One opening: a position that has a name. */
interface Opening {
  eco: string;
  name: string;
  key: string;
  plies: number;
}

export const openings: Plugin = {
  name: "openings",
  resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
  async load(id) {
    if (id !== `\0${ID}`) return undefined;
    for (const file of FILES) this.addWatchFile(file);
    const texts = await Promise.all(FILES.map((file) => this.fs.readFile(file, { encoding: "utf8" })));
    const all = texts.flatMap((text) => text.trim().split("\n").slice(1).map(opening));
    // Neighbours by name share most of it, which compresses well.
    all.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.eco < b.eco ? -1 : 1));
    return [
      `export const plies = ${Math.max(...all.map((each) => each.plies))};`,
      `export const names = ${JSON.stringify(all.map(({ eco, name }) => eco + name).join("\n"))};`,
      `export const keys = ${JSON.stringify(all.map(({ key }) => key).join(""))};`,
    ].join("\n");
  },
};

function opening(line: string): Opening {
  const [eco = "", name = "", pgn = ""] = line.split("\t");
  const position = Chess.default();
  let plies = 0;
  for (const word of pgn.split(" ")) {
    if (word.endsWith(".")) continue;
    const move = parseSan(position, word);
    if (!move) throw new Error(`data/eco: ${word} is not legal in “${name}”`);
    position.play(move);
    plies++;
  }
  return { eco, name, key: keyOf(position), plies };
}
