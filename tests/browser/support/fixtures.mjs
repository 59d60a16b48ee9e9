// Folders that many test files read and no test changes. `cargo xtask test` builds each of them once per run.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DUMPS, PACKAGE, SHELFISH, SITE } from "./paths.mjs";

/** Creates a folder for this process. */
function ownHome() {
  const home = mkdtempSync(join(tmpdir(), "shelfish-fixtures-"));
  process.on("exit", () => rmSync(home, { recursive: true, force: true }));
  return home;
}

let home = process.env.SHELFISH_FIXTURES;

/** Returns the folder of the fixtures. A test file that runs alone creates the folder when it needs it. */
const homeFolder = () => (home ??= ownHome());

/**
 * Returns a folder that no test may change. Builds it if it does not exist yet. If two processes build it at the same time, the
 * first to finish keeps its folder.
 * @param {string} name
 * @param {(folder: string) => void} build
 */
function fixture(name, build) {
  const folder = join(homeFolder(), name);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(join(homeFolder(), "unfinished-"));
  build(unfinished);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return folder;
}

/** Returns a database of the famous games. Its manifest contains no pages of the index. */
export const famous = () =>
  fixture(
    "famous",
    (folder) =>
      void execFileSync(
        SHELFISH,
        ["build", String(DUMPS[1]), "-o", folder, "--inline-pages", "0"],
        { stdio: "pipe" },
      ),
  );

/** An evaluation that the famous games lack. */
export const ADDED = {
  fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
  evals: [
    { pvs: [{ cp: 21, line: "d2d4 d7d5 c2c4" }], knodes: 9000, depth: 30 },
  ],
};

/** Returns the next build of the same database, with another evaluation of the position before the first move. */
export const renewed = () =>
  fixture("renewed", (folder) => {
    const added = join(
      mkdtempSync(join(homeFolder(), "added-")),
      "added.jsonl",
    );
    writeFileSync(added, `${JSON.stringify(ADDED)}\n`);
    execFileSync(
      SHELFISH,
      ["build", String(DUMPS[1]), added, "-o", folder, "--inline-pages", "0"],
      { stdio: "pipe" },
    );
  });

export const BLANK =
  '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Blank</title>';

/**
 * Returns the root folder of the server of browser tests. It contains a blank page, the npm package in `pkg/`, the
 * sample database in `db/`, a database of the famous games in `famous/`, and the site in `site/`.
 */
export const serverRoot = () =>
  fixture("server", (root) => {
    writeFileSync(join(root, "index.html"), BLANK);
    for (const [from, to] of [
      [PACKAGE, "pkg"],
      [SITE, "site"],
      [join(SITE, "db"), "db"],
      [famous(), "famous"],
    ]) {
      cpSync(String(from), join(root, String(to)), {
        recursive: true,
        dereference: true,
      });
    }
  });
