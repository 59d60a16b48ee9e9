// Every position of whole data sets, through the module: each equals its source, and absent positions are not found.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Chess } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { Decompress } from "fzstd";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { serve } from "../browser/support/serve.mjs";
import { plain } from "../browser/support/truth.mjs";

const DATA = resolve(process.env.SHELFISH_DATA ?? join(ROOT, "../shared/data"));
const BATCH = 1000;
/** Number of absent positions to look up. Each is a ply away from a position of the set. */
const ABSENT = 100_000;

/** @typedef {{ fen: string, evals: import("../browser/support/truth.mjs").Evaluation[] }} Line */

/**
 * Yields the lines of a dump.
 * @param {string} path
 */
async function* lines(path) {
  const input = createReadStream(path);
  let text = /** @type {import("node:stream").Readable} */ (input);
  if (path.endsWith(".zst")) {
    const plain = new PassThrough();
    const zstd = new Decompress((chunk, last) => {
      plain.write(Buffer.from(chunk));
      if (last) plain.end();
    });
    (async () => {
      for await (const chunk of input) {
        zstd.push(chunk);
        if (plain.writableNeedDrain)
          await new Promise((done) => plain.once("drain", done));
      }
      plain.end();
    })().catch((error) => plain.destroy(error));
    text = plain;
  }
  for await (const line of createInterface({
    input: text,
    crlfDelay: Infinity,
  })) {
    if (line !== "") yield /** @type {Line} */ (JSON.parse(line));
  }
}

/**
 * Returns the position after a move that leaves no en-passant square, or undefined if there is no such move.
 * @param {string} fen
 * @param {number} choice
 */
function next(fen, choice) {
  const position = Chess.fromSetup(parseFen(`${fen} 0 1`).unwrap());
  if (position.isErr) return undefined;
  const chess = position.value;
  const moves = [...chess.allDests()].flatMap(([from, dests]) =>
    [...dests].map((to) => ({ from, to })),
  );
  const quiet = moves.filter(
    ({ from, to }) =>
      chess.board.getRole(from) !== "pawn" || Math.abs(from - to) === 8,
  );
  const move = quiet[choice % Math.max(1, quiet.length)];
  if (move === undefined) return undefined;
  const promotes =
    chess.board.getRole(move.from) === "pawn" && (move.to < 8 || move.to >= 56);
  chess.play(promotes ? { ...move, promotion: "queen" } : move);
  return makeFen(chess.toSetup(), { epd: true });
}

/** The largest sets take minutes, so they run only on request. */
const LARGE = process.env.SHELFISH_LONG
  ? ["evals-sf.jsonl.zst", "evals-tcec.jsonl.zst"]
  : [];

for (const [n, name] of [
  "evals-lichess-seed.jsonl",
  "evals-famous.jsonl.zst",
  ...LARGE,
].entries()) {
  const path = join(DATA, name);
  const missing = existsSync(path)
    ? false
    : `SKIPPED: ${path} is not there; SHELFISH_DATA says where data sets are`;
  if (missing) console.error(missing);

  test(
    `every position of ${name} equals its source, and absent positions are not found`,
    { skip: missing },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), "shelfish-data-"));
      const database = join(directory, "db");
      // Every second database reads pages from the shard.
      const inline = n % 2 ? [] : ["--inline-pages", "0"];
      execFileSync(
        SHELFISH,
        ["build", path, "-o", database, "--quiet", ...inline],
        { stdio: ["ignore", "ignore", "inherit"] },
      );
      const server = await serve(database);
      try {
        /** @type {typeof import("shelfish")} */
        const { openDatabase, ShelfishError } = await import(
          pathToFileURL(join(PACKAGE, "index.js")).href
        );
        const shelf = await openDatabase(new URL("manifest.json", server.url), {
          memoryBytes: 2 ** 29,
          indexedDB: false,
        });

        const known = new Set();
        let evaluations = 0;
        /** @param {Line[]} batch */
        const check = async (batch) => {
          const answers = await shelf.lookupMany(
            batch.map(({ fen }) => fen),
            { castling: "chess960" },
          );
          batch.forEach(({ fen, evals }, n) => {
            const answer = answers[n];
            assert.ok(
              answer && "evaluations" in answer,
              `${fen} is not found: ${answer}`,
            );
            assert.equal(answer.fen, fen);
            assert.deepEqual(
              answer.evaluations.map(plain).sort(),
              [...new Set(evals.map(plain))].sort(),
              fen,
            );
            evaluations += answer.evaluations.length;
            known.add(fen);
          });
        };
        /** @type {Line[]} */
        let batch = [];
        for await (const line of lines(path)) {
          batch.push(line);
          if (batch.length === BATCH) await check(batch.splice(0));
        }
        await check(batch);
        assert.equal(known.size, shelf.manifest.positions);
        assert.equal(evaluations, shelf.manifest.evaluations);

        const step = Math.max(1, Math.floor(known.size / (2 * ABSENT)));
        const absent = new Set();
        let n = 0;
        for (const fen of known) {
          if (n++ % step !== 0 || absent.size === ABSENT) continue;
          const other = next(fen, n);
          if (other !== undefined && !known.has(other)) absent.add(other);
        }
        const asked = [...absent];
        while (asked.length > 0) {
          for (const answer of await shelf.lookupMany(asked.splice(0, BATCH))) {
            // Some moves end the game.
            const isOver =
              answer instanceof ShelfishError && answer.code === "over";
            if (!isOver) assert.equal(answer, null);
          }
        }
        console.log(
          `${name}: ${known.size} positions found, ${absent.size} absent ones not`,
        );
        shelf.close();
      } finally {
        await server.close();
        rmSync(directory, { recursive: true });
      }
    },
  );
}
