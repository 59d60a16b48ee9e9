/** Reads a game of a PGN file into a tree of positions. */
import { Chess, type Position } from "chessops/chess";
import { parseVariant } from "chessops/pgn";
import type { NormalMove } from "chessops/types";
import { clip, InputError } from "../text/input-error";
import { positionOf } from "../game/fen";
import { Game, type Node, uci } from "../game/game";
import { gameId, gameSite } from "../game/game-id";
import { addBefore, addComment, addNag } from "./comments";
import { type Cut, type ResolvedMoves, resolveMoves } from "./resolve-moves";
import type { PgnText } from "./split";
import { movetext, type MoveToken } from "./movetext";

export interface Read {
  readonly game: Game;
  /** Variations that end early because of an illegal move. */
  readonly cuts: readonly Cut[];
}

/** The result of a check, without the game itself. */
export interface Checked {
  /** Key in the list of stored games. */
  readonly id: string;
  readonly plies: number;
  readonly cuts: number;
  readonly result: string | undefined;
}

/** Checks a game. Throws the `InputError` that `readGame` would throw. */
export function checkGame(source: PgnText): Checked {
  const { start, root, read, result } = parse(source);
  const moves = mainline(root, read).map(uci);
  return {
    id: gameId(start, moves, source.headers),
    plies: moves.length,
    cuts: read.cuts.length,
    result,
  };
}

/** Reads a game. Throws an `InputError` with the line and the column. */
export function readGame(source: PgnText): Read {
  const { start, root, read, result } = parse(source);
  const headers = new Map(source.headers);
  if (result && result !== "*" && !headers.has("Result"))
    headers.set("Result", result);
  for (const name of ["FEN", "SetUp"]) headers.delete(name);
  const game = new Game(start, headers);
  for (const comment of root.after) addComment(game.root.notes, comment);
  addMoves(game, root, read);
  game.sourcePlies = game.mainline().length - 1;
  game.id = gameId(start, mainline(root, read).map(uci), headers);
  const site = gameSite(headers);
  if (site) game.site = site;
  return { game, cuts: read.cuts };
}

/** Reads the moves of a game without its variations and comments. Throws like `readGame`. */
export function readMoves(source: PgnText): {
  start: Position;
  moves: readonly NormalMove[];
} {
  const { start, root, read } = parse(source);
  return { start, moves: mainline(root, read) };
}

function parse(source: PgnText): {
  start: Position;
  root: MoveToken;
  read: ResolvedMoves;
  result: string | undefined;
} {
  if (source.error) throw source.error;
  const start = startOf(source);
  const { root, result } = movetext(source);
  if (root.next.length === 0 && !source.headers.has("FEN"))
    throw new InputError("The game has no moves.", source.line);
  return { start, root, read: resolveMoves(source, root, start), result };
}

function startOf({ headers, line }: PgnText): Position {
  const variant = headers.get("Variant");
  if (parseVariant(variant) !== "chess")
    throw new InputError(
      `The variant “${clip(variant)}” is not known here: only standard chess and Chess960 are.`,
      line,
    );
  const fen = headers.get("FEN");
  if (fen === undefined) {
    if (headers.get("SetUp") === "1")
      throw new InputError(
        "The header SetUp announces a start position, but the header FEN is missing.",
        line,
      );
    if (/960|fischer/i.test(variant ?? ""))
      throw new InputError(
        "This game of Chess960 has no header FEN: its start position is unknown.",
        line,
      );
    return Chess.default();
  }
  try {
    return positionOf(fen);
  } catch (error) {
    throw error instanceof InputError
      ? new InputError(error.message, line)
      : error;
  }
}

function mainline(root: MoveToken, { moves }: ResolvedMoves): NormalMove[] {
  const line: NormalMove[] = [];
  for (let at = root.next[0]; at; at = at.next[0]) {
    const move = moves.get(at);
    if (!move) break;
    line.push(move);
  }
  return line;
}

function addMoves(game: Game, root: MoveToken, { moves }: ResolvedMoves): void {
  const open: [node: Node, at: MoveToken][] = root.next
    .map((at): [Node, MoveToken] => [game.root, at])
    .reverse();
  for (let task = open.pop(); task; task = open.pop()) {
    const [node, at] = task;
    const move = moves.get(at);
    if (!move) continue;
    const next = game.play(node, move);
    for (const comment of at.before) addBefore(next.notes, comment);
    for (const comment of at.after) addComment(next.notes, comment);
    for (const nag of at.nags) addNag(next.notes, nag);
    for (let index = at.next.length - 1; index >= 0; index--) {
      const below = at.next[index];
      if (below) open.push([next, below]);
    }
  }
}
