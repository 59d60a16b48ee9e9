// Reads games and positions, from large files in pieces.
import { createReadStream } from "node:fs";
import { makeFen } from "chessops/fen";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { Decompress } from "fzstd";

/**
 * Returns the positions of a game by chessops, each with the move before it. Ends at an illegal move.
 * @param {string} pgn
 */
export function played(pgn) {
  const [game] = parsePgn(pgn);
  const position = startingPosition(game?.headers ?? new Map()).unwrap();
  const fen = () => makeFen(position.toSetup(), { epd: true });
  const plies = [{ san: "", fen: fen() }];
  for (const { san } of game?.moves.mainline() ?? []) {
    const move = parseSan(position, san);
    if (!move) break;
    position.play(move);
    plies.push({ san, fen: fen() });
  }
  return plies;
}

/**
 * Reads a file, plain or compressed with zstd, in pieces of text.
 * @param {string} path
 */
async function* text(path) {
  const decoder = new TextDecoder();
  /** @type {Uint8Array[]} */
  let chunks = [];
  const zstd = path.endsWith(".zst")
    ? new Decompress((chunk) => void chunks.push(chunk.slice()))
    : null;
  for await (const bytes of createReadStream(path, {
    highWaterMark: 1 << 16,
  })) {
    zstd ? zstd.push(bytes) : chunks.push(bytes);
    for (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    chunks = [];
  }
}

/**
 * Returns the parts of a text between separators.
 * @param {string} path
 * @param {string} separator
 */
export async function* split(path, separator) {
  let rest = "";
  for await (const piece of text(path)) {
    const parts = (rest + piece).split(separator);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  yield rest;
}

/**
 * Returns the positions of some whole games: every `step`-th game of at least 40 plies.
 * @param {string} path of a PGN file
 * @param {number} count
 * @param {number} step
 */
export async function games(path, count, step) {
  /** @type {string[][]} */
  const games = [];
  let number = 0;
  for await (const part of split(path, "\n[Event ")) {
    if (number++ % step !== step - 1) continue;
    const fens = played(`[Event ${part}`).map(({ fen }) => fen);
    if (fens.length > 40) games.push(fens);
    if (games.length === count) break;
  }
  return games;
}

/**
 * Returns pairs of consecutive positions from all parts of an evaluation dump in the order of games.
 * @param {string} path
 * @param {number} count
 * @param {number} step
 */
export async function neighbours(path, count, step) {
  /** @type {[fen: string, next: string][]} */
  const pairs = [];
  let [number, last] = [0, ""];
  for await (const line of split(path, "\n")) {
    if (number % step === step - 1) last = line;
    else if (number % step === 0 && number > 0)
      pairs.push([JSON.parse(last).fen, JSON.parse(line).fen]);
    number++;
    if (pairs.length === count) break;
  }
  return pairs;
}
