// Reads the list of hostile databases that `attack write` wrote into a folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the rows of a tab-separated file, without the header. */
const rows = (/** @type {string} */ path) =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"));

/**
 * @param {string} dir
 */
export function attacks(dir) {
  const databases = (/** @type {string} */ kind) =>
    rows(join(dir, `${kind}s.tsv`)).map(([name, fen, outcome], n) => {
      return {
        name: String(name),
        fen: String(fen),
        isAnswered: outcome === "Answer",
        url: `${kind}-${n}/manifest.json`,
      };
    });
  return {
    blocks: databases("block"),
    books: databases("book"),
    manifests: rows(join(dir, "manifests.tsv")).map(([name], n) => ({
      name: String(name),
      url: `manifest-${n}/manifest.json`,
    })),
  };
}
