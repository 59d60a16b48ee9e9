// Endgame tables in Node: the module has the results of python-chess.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Chess, isImpossibleCheck } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

/** @type {typeof import("shelfish/endgames")} */
const { openEndgames, ShelfishError } = await import(
  pathToFileURL(join(PACKAGE, "endgames-node.js")).href
);

const MASK = (1n << 64n) - 1n;
const RANDOM = 3000;
const RESULTS = ["loss", "blessed-loss", "draw", "cursed-win", "win"];

/** Returns the numbers of SplitMix64: a function of their limit. */
function numbers(/** @type {number} */ seed) {
  let state = BigInt(seed);
  return (/** @type {number} */ limit) => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return Number((z ^ (z >> 31n)) % BigInt(limit));
  };
}

/** Returns the FEN if python-chess accepts the position and the game is not over. */
function legal(/** @type {string} */ fen) {
  const setup = parseFen(fen);
  const chess = setup.isOk ? Chess.fromSetup(setup.value) : undefined;
  if (!chess?.isOk || !chess.value.hasDests()) return undefined;
  const position = chess.value;
  const checkers = position.ctx().checkers;
  // python-chess accepts that two knights or pawns check at a time.
  const leapers = position.board.knight
    .union(position.board.pawn)
    .intersect(checkers);
  if (
    isImpossibleCheck(position) &&
    !(checkers.size() === 2 && leapers.size() === 2)
  )
    return undefined;
  return makeFen(position.toSetup());
}

/** Returns the FEN of pieces on squares. `undefined` if the position does not count. */
function position(
  /** @type {string} */ material,
  /** @type {number[]} */ squares,
  isWhite = true,
  isSwapped = false,
  file = 8,
) {
  if (new Set(squares).size < squares.length) return undefined;
  const [white = "", black = ""] = material.split("v");
  const board = Array.from({ length: 64 }, () => "1");
  for (const [n, letter] of Array.from(white + black).entries()) {
    const square = squares[n] ?? 0;
    board[(7 - (square >> 3)) * 8 + (square & 7)] =
      n < white.length !== isSwapped ? letter : letter.toLowerCase();
  }
  const fen = `${board.join("").replace(/.{8}(?=.)/g, "$&/")} ${isWhite ? "w" : "b"} -`;
  return (
    (file < 8 && legal(`${fen} ${"abcdefgh"[file]}${isWhite ? 6 : 3}`)) ||
    legal(`${fen} -`)
  );
}

/** Returns the random positions of a table as in `tests/endgames/reference.py`. */
function* random(/** @type {string} */ material, /** @type {number} */ seed) {
  const below = numbers(seed);
  for (let found = 0; found < RANDOM;) {
    const squares = Array.from({ length: material.length - 1 }, () =>
      below(64),
    );
    const fen = position(
      material,
      squares,
      below(2) === 0,
      below(2) === 0,
      below(16),
    );
    if (!fen) continue;
    found++;
    yield fen;
  }
}

/** Returns all positions of a table as in `tests/endgames/reference.py`. */
function* every(/** @type {string} */ material) {
  const pieces = material.length - 1;
  for (let number = 0; number < 64 ** pieces; number++) {
    const squares = Array.from(
      { length: pieces },
      (_, n) => (number >> (6 * (pieces - 1 - n))) & 63,
    );
    for (const isWhite of [true, false]) {
      const fen = position(material, squares, isWhite);
      if (fen) yield fen;
    }
  }
}

/** Compares the results of positions with those of python-chess. */
async function compare(
  /** @type {Iterable<string>} */ fens,
  /** @type {string} */ material,
  /** @type {string} */ count,
  /** @type {string} */ digest,
) {
  const hash = createHash("sha256");
  let [found, part] = [0, /** @type {string[]} */ ([])];
  const probe = async () => {
    for (const result of await endgames.probeMany(part)) {
      assert.ok(!(result instanceof ShelfishError), String(result));
      const bytes = Buffer.alloc(3);
      bytes.writeUInt8(RESULTS.indexOf(result.outcome));
      bytes.writeInt16LE(result.dtz, 1);
      hash.update(bytes);
      found++;
    }
    part = [];
  };
  for (const fen of fens) if (part.push(fen) === 100) await probe();
  await probe();
  assert.equal(`${found}`, count, material);
  assert.equal(hash.digest("hex"), digest, material);
}

const endgames = await openEndgames(join(ROOT, "static-shards/endgames"));
after(() => endgames.close());
const reference = readFileSync(
  join(ROOT, "tests/data/endgames/reference.tsv"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => line.split("\t"));
const sets = (/** @type {string} */ name) =>
  reference.filter(([, set]) => set === name);

test("105,000 random positions of all tables have the results of python-chess", async () => {
  assert.equal(sets("random").length, 35);
  for (const [seed, [material = "", , count = "", digest = ""]] of sets(
    "random",
  ).entries()) {
    await compare(random(material, seed), material, count, digest);
  }
});

const skip =
  !process.env.SHELFISH_LONG &&
  "takes minutes: `cargo xtask test --all` runs it";
test(
  "all positions of five endings have the results of python-chess",
  { skip },
  async () => {
    assert.equal(sets("all").length, 5);
    for (const [material = "", , count = "", digest = ""] of sets("all"))
      await compare(every(material), material, count, digest);
  },
);
