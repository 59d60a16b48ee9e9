// Every position of a large book, through the module: its counts are those that the program exports, and positions that a book
// leaves out are absent. The program's tests compare its counts with a plain map.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const GAMES = join(
  resolve(process.env.SHELFISH_DATA ?? join(ROOT, "../shared/data")),
  "games.pgn.zst",
);
const BATCH = 2_000;
/** Minimum number of games of a position in the second book. */
const LEAST = 5;

/** @typedef {[white: number, draws: number, black: number]} Counts */
/** @typedef {{ fen: string, ended: Counts, moves: Record<string, Counts> }} Line */

const missing = !process.env.SHELFISH_LONG
  ? "takes many minutes: `cargo xtask test --all` runs it"
  : existsSync(GAMES)
    ? false
    : `SKIPPED: ${GAMES} is not there`;

test(
  "every position of all games has its counts, and a book without rare positions does not contain them",
  { skip: missing },
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), "shelfish-book-"));
    t.after(() => rmSync(root, { recursive: true }));
    /** @type {typeof import("shelfish")} */
    const { openBook } = await import(
      pathToFileURL(join(PACKAGE, "node.js")).href
    );
    const build = async (
      /** @type {string} */ name,
      /** @type {string[]} */ ...options
    ) => {
      const out = join(root, name);
      execFileSync(
        SHELFISH,
        [
          "book",
          "build",
          GAMES,
          "-o",
          out,
          "--quiet",
          "--max-plies",
          "1000",
          ...options,
        ],
        { stdio: ["ignore", "ignore", "inherit"] },
      );
      return openBook(out);
    };
    const all = await build("all");
    const frequent = await build("frequent", "--min-games", String(LEAST));
    t.after(() => [all, frequent].forEach((book) => book.close()));

    const [found, left] = [{ all: 0, frequent: 0 }, { out: 0 }];
    /**
     * @param {Line[]} batch
     * @param {typeof all} book
     */
    const check = async (batch, book) => {
      const answers = await book.movesMany(
        batch.map(({ fen }) => fen),
        { castling: "chess960" },
      );
      batch.forEach(({ fen, ended, moves }, n) => {
        const answer = answers[n];
        assert.ok(answer && "moves" in answer, `${fen}: ${answer}`);
        const of = (
          /** @type {{ white: number, draws: number, black: number }} */ {
            white,
            draws,
            black,
          },
        ) => [white, draws, black];
        assert.deepEqual(
          [
            of(answer.ended),
            Object.fromEntries(
              answer.moves.map((move) => [move.uci, of(move)]),
            ),
          ],
          [ended, moves],
          fen,
        );
      });
    };
    const sum = (/** @type {Line} */ { ended, moves }) =>
      [ended, ...Object.values(moves)].flat().reduce((a, b) => a + b);
    const none = (/** @type {Line} */ { fen }) => ({
      fen,
      ended: /** @type {Counts} */ ([0, 0, 0]),
      moves: {},
    });
    /** @type {Line[]} */
    let batch = [];
    const checked = async () => {
      await check(batch, all);
      const [many, few] = [
        batch.filter((line) => sum(line) >= LEAST),
        batch.filter((line) => sum(line) < LEAST),
      ];
      await check([...many, ...few.map(none)], frequent);
      found.all += batch.length;
      found.frequent += many.length;
      left.out += few.length;
      batch = [];
    };
    const text = spawn(SHELFISH, ["export", "-d", join(root, "all")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({
      input: text.stdout,
      crlfDelay: Infinity,
    })) {
      batch.push(JSON.parse(line));
      if (batch.length === BATCH) await checked();
    }
    await checked();
    assert.equal(found.all, all.manifest.positions);
    assert.equal(found.frequent, frequent.manifest.positions);
    console.log(
      `${found.all} positions found; of ${LEAST} games ${found.frequent} found, ${left.out} others not`,
    );
  },
);
