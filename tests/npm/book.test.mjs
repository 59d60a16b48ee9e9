// Books in Node: counts equal those of a plain map, moves have evaluations, kinds of databases are distinguished.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { parsePgn } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { makeUci } from "chessops/util";
import { host } from "../browser/support/host.mjs";
import { DUMPS, PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const here = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish")} */
const { openBook, ShelfishError } = await import(here("index.js"));
/** @type {typeof import("shelfish")} */
const node = await import(here("node.js"));
/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(here("index.js"));

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const FAMOUS = join(ROOT, "static-shards/famous.pgn");

/** @type {string} */
let root;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
before(async () => {
  root = mkdtempSync(join(tmpdir(), "shelfish-book-"));
  const build = (/** @type {string[]} */ ...words) =>
    execFileSync(SHELFISH, [...words, "--quiet"]);
  build(
    "book",
    "build",
    FAMOUS,
    "-o",
    join(root, "book"),
    "--max-plies",
    "500",
  );
  build("build", ...DUMPS.slice(1), "-o", join(root, "evals"));
  shelf = await host(root);
});
after(async () => {
  await shelf.close();
  rmSync(root, { recursive: true });
});

/**
 * Counts the moves of games in a plain map, with a different PGN reader: results by FEN and UCI (`end`: the game ends here).
 * @param {string} pgn
 */
function plain(pgn) {
  /** @type {Map<string, Map<string, [number, number, number]>>} */
  const positions = new Map();
  for (const game of parsePgn(pgn)) {
    const chess = Chess.default();
    /** @type {Map<string, string>} The last move that the game played from each position. */
    const played = new Map();
    const fen = () => makeFen(chess.toSetup(), { epd: true });
    for (const { san } of game.moves.mainline()) {
      const move = parseSan(chess, san) ?? assert.fail(san);
      played.set(fen(), makeUci(move));
      chess.play(move);
    }
    played.set(fen(), "end");
    const result = ["1-0", "1/2-1/2", "0-1"].indexOf(
      game.headers.get("Result") ?? "",
    );
    assert.ok(result >= 0);
    for (const [fen, move] of played) {
      const moves = positions.get(fen) ?? new Map();
      const counts = moves.get(move) ?? [0, 0, 0];
      counts[result]++;
      positions.set(fen, moves.set(move, counts));
    }
  }
  return positions;
}

const counts = (
  /** @type {{ white: number, draws: number, black: number }} */ {
    white,
    draws,
    black,
  },
) => [white, draws, black];

test("every position of a book has the counts of a plain map", async (t) => {
  const book = await openBook(new URL("book/", shelf.url));
  t.after(() => book.close());
  const known = plain(readFileSync(FAMOUS, "utf8"));
  assert.equal(book.manifest.positions, known.size);
  const answers = await book.movesMany(known.keys(), { castling: "chess960" });
  let moves = 0;
  for (const [n, [fen, expected]] of [...known].entries()) {
    const answer = answers[n];
    assert.ok(answer && "moves" in answer, fen);
    assert.equal(answer.fen, fen);
    const found = new Map(answer.moves.map((move) => [move.uci, counts(move)]));
    if (counts(answer.ended).some((count) => count > 0))
      found.set("end", counts(answer.ended));
    assert.deepEqual([...found].sort(), [...expected].sort(), fen);
    const sum = [0, 1, 2].map((at) =>
      [...expected.values()].reduce((sum, each) => sum + (each[at] ?? 0), 0),
    );
    assert.deepEqual(counts(answer), sum);
    moves += answer.moves.length;
  }
  assert.equal(book.manifest.moves, moves);
  assert.equal(book.manifest.info.games, "22");
});

test("moves are sorted by games, with shares, scores and positions", async (t) => {
  const book = await openBook(new URL("book/", shelf.url));
  t.after(() => book.close());
  const answer = await book.moves(`${START} 0 1`);
  assert.equal(answer.fen, START);
  const games = counts(answer).reduce((sum, count) => sum + count, 0);
  assert.equal(games, 22);
  let before = Infinity;
  for (const move of answer.moves) {
    const ofMove = move.white + move.draws + move.black;
    assert.ok(ofMove <= before);
    before = ofMove;
    assert.equal(move.share, ofMove / games);
    assert.equal(move.points, (move.white + move.draws / 2) / ofMove);
    const chess = Chess.default();
    chess.play(parseSan(chess, move.san) ?? assert.fail(move.san));
    assert.equal(move.fen, makeFen(chess.toSetup(), { epd: true }));
  }
  const [e4] = answer.moves;
  const black = await book.moves(e4?.fen ?? "");
  const [reply] = black.moves;
  assert.ok(
    reply &&
      reply.points ===
        (reply.black + reply.draws / 2) /
          (reply.white + reply.draws + reply.black),
    "the score is from the point of view of the side to move",
  );
});

test("a position that no game reached has no moves, and an invalid FEN is an error", async (t) => {
  const book = await openBook(new URL("book/", shelf.url));
  t.after(() => book.close());
  const none = { white: 0, draws: 0, black: 0 };
  const fen = "8/8/8/4k3/8/4K3/8/8 w - -";
  assert.deepEqual(await book.moves(fen), {
    fen,
    ...none,
    ended: none,
    moves: [],
  });
  await assert.rejects(book.moves("nonsense"), { code: "fen" });
  const [answer, error] = await book.movesMany([START, "nonsense"]);
  assert.ok(
    answer &&
      "moves" in answer &&
      error instanceof ShelfishError &&
      error.code === "fen",
  );
  await assert.rejects(book.movesMany(START), { code: "usage" });
  await assert.rejects(book.moves(START, { signal: AbortSignal.abort() }), {
    code: "aborted",
  });
  book.close();
  await assert.rejects(book.moves(START), { code: "closed" });
});

test("a single lookup adds evaluations to the moves", async (t) => {
  const book = await openBook(new URL("book/", shelf.url));
  const evals = await openDatabase(new URL("evals/", shelf.url));
  t.after(() => [book, evals].forEach((each) => each.close()));
  await book.moves(START);
  const { lookups } = evals.stats();
  const openingOf = (/** @type {string} */ fen) =>
    fen === START ? { eco: "A00", name: "Start" } : undefined;
  const answer = await book.explore(START, { database: evals, openingOf });
  assert.equal(evals.stats().lookups - lookups, answer.moves.length);
  assert.deepEqual(answer.opening, { eco: "A00", name: "Start" });
  for (const move of answer.moves) {
    assert.deepEqual(
      move.evaluation,
      (await evals.lookup(move.fen)) ?? undefined,
      move.san,
    );
  }
  const plain = await book.explore(START);
  assert.deepEqual(plain.moves, (await book.moves(START)).moves);
});

const DETAILS = join(ROOT, "tests/data/book-details");

test("only chosen buckets count", async (t) => {
  const book = await node.openBook(join(DETAILS, "db"));
  t.after(() => book.close());
  const all = await book.moves(START);
  const blitz = await book.moves(START, {
    buckets: ["blitz -1999", "blitz 2000-"],
  });
  assert.deepEqual(counts(blitz), [1, 1, 0]);
  assert.deepEqual(
    blitz.moves.map(({ san, share, averageRating }) => ({
      san,
      share,
      averageRating,
    })),
    [{ san: "e4", share: 1, averageRating: 1875 }],
  );
  assert.deepEqual(
    blitz.buckets,
    all.buckets,
    "the list of buckets does not depend on the chosen buckets",
  );
  await assert.rejects(book.moves(START, { buckets: ["slow"] }), {
    code: "usage",
    message: /slow/,
  });
});

test("opening a book as evaluations or evaluations as a book is an error", async () => {
  const isBook = {
    code: "manifest",
    message: /manifest\.json: this is a book of moves.*openBook$/,
  };
  const isEvals = {
    code: "manifest",
    message: /this is a database of evaluations.*openDatabase$/,
  };
  await assert.rejects(openDatabase(new URL("book/", shelf.url)), isBook);
  await assert.rejects(openBook(new URL("evals/", shelf.url)), isEvals);
});
