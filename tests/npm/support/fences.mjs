// Fenced code of documents.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../browser/support/paths.mjs";

const GUIDES = "docs/guides";

/** The guides of the documentation, as paths in the repository. */
export const guides = readdirSync(join(ROOT, GUIDES))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `${GUIDES}/${name}`);

/** @typedef {{ document: string, language: string, note: string, code: string }} Fence `note`: the words after the language */

/** Returns the fences of a document. @returns {Fence[]} */
export function fencesOf(/** @type {string} */ document) {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^( *)```(\w*)([^\n]*)\n([^]*?)^ *```$/gm)].map(
    ([, indent = "", language = "", note = "", code = ""]) => ({
      document,
      language,
      note: note.trim(),
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
}
