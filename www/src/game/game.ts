/** A game: a tree of positions with the first child as the main line. Pure: it knows no page and no database. */
import { castlingSide, Chess, normalizeMove, type Position } from "chessops/chess";
import { chessgroundMove } from "chessops/compat";
import { INITIAL_FEN, makeFen } from "chessops/fen";
import { makeSan } from "chessops/san";
import { isNormal, type Move, type NormalMove } from "chessops/types";
import { kingCastlesTo, makeUci, parseUci } from "chessops/util";
import type { Notes } from "./notes";

/** One position of the tree and the move that led to it. */
export interface Node {
  readonly parent?: Node;
  /** Half-moves from the root. */
  readonly ply: number;
  /** Undefined at the root only. */
  readonly move?: NormalMove;
  /** SAN of `move`; empty at the root. */
  readonly san: string;
  readonly position: Position;
  readonly fen: string;
  readonly children: Node[];
  /** What the PGN says of the move that led here. */
  readonly notes: Notes;
}

/** Where a game was played. */
export interface GameSite {
  name: "lichess" | "chess.com" | string;
  /** The game's page there. */
  url?: string;
  /** Its id there, if it was fetched by it and so can be fetched again. */
  id?: string;
}

/** A line of moves from some position, each with the position after it. */
export interface Step {
  readonly move: NormalMove;
  readonly san: string;
  readonly position: Position;
  readonly number: string;
}

/** A tree of positions, with what is known about the game. */
export class Game {
  readonly root: Node;
  /** How many plies of the main line came with the game; moves played later count as additions. */
  sourcePlies = 0;
  /** Where it came from, if that is known. */
  site?: GameSite;
  /** Its key in the list of stored games. */
  id?: string;

  constructor(
    start: Position = Chess.default(),
    /** PGN headers; empty for a board that somebody just plays on. */
    readonly headers: ReadonlyMap<string, string> = new Map(),
    /** Its name in the famous-games menu and in links. */
    public slug?: string,
  ) {
    this.root = { ply: 0, san: "", position: start, fen: makeFen(start.toSetup()), children: [], notes: { nags: [] } };
  }

  /** The node after `move`, added to the tree unless it is there already. The move must be legal. */
  play(node: Node, move: Move): Node {
    if (!isNormal(move)) return node;
    const legal = normalizeMove(node.position, move) as NormalMove;
    const known = node.children.find((child) => child.move && sameMove(child.move, legal));
    if (known) return known;
    const san = makeSan(node.position, legal);
    const position = node.position.clone();
    position.play(legal);
    const child: Node = {
      parent: node,
      ply: node.ply + 1,
      move: legal,
      san,
      position,
      fen: makeFen(position.toSetup()),
      children: [],
      notes: { nags: [] },
    };
    node.children.push(child);
    return child;
  }

  /** Root and main line. */
  mainline(): Node[] {
    return lineFrom(this.root);
  }

  /** Whether it starts where games of chess start. */
  get startsAsUsual(): boolean {
    return this.root.fen === INITIAL_FEN;
  }
}

/** `node` and the first children below it. */
export function lineFrom(node: Node): Node[] {
  const line = [node];
  for (let next = node.children[0]; next; next = next.children[0]) line.push(next);
  return line;
}

/** The nodes from the root to `node`. */
export function path(node: Node): Node[] {
  const nodes: Node[] = [];
  for (let at: Node | undefined = node; at; at = at.parent) nodes.unshift(at);
  return nodes;
}

/** Whether the node is in a variation; then the first move of it. */
export function variationOf(node: Node): Node | undefined {
  for (let at: Node | undefined = node; at?.parent; at = at.parent) if (at.parent.children[0] !== at) return at;
  return undefined;
}

/** "12." before a move of White, "12…" before a move of Black; `position` is the one before the move. */
export function moveNumber(position: Position): string {
  return position.turn === "white" ? `${position.fullmoves}.` : `${position.fullmoves}…`;
}

/** The UCI moves of a line as steps; it ends at the first one that is not legal. */
export function steps(start: Position, line: readonly string[]): Step[] {
  const result: Step[] = [];
  let position = start;
  for (const uci of line) {
    const parsed = parseUci(uci);
    const move = parsed && normalizeMove(position, parsed);
    if (!move || !isNormal(move) || !position.isLegal(move)) break;
    const number = moveNumber(position);
    const san = makeSan(position, move);
    position = position.clone();
    position.play(move);
    result.push({ move, san, position, number });
  }
  return result;
}

/** From and to squares as a person sees the move: a castling king goes to the g or c file. */
export function squares(before: Position, move: NormalMove): string[] {
  const side = castlingSide(before, move);
  return chessgroundMove(side ? { ...move, to: kingCastlesTo(before.turn, side) } : move);
}

/** UCI with castling as the king's capture of its own rook, which is unambiguous in Chess960 too. */
export const uci = (move: NormalMove): string => makeUci(move);

/** How the game stands when no legal move is left. */
export function ending(position: Position): { title: string; result: "1-0" | "0-1" | "½-½"; winner?: "white" | "black" } | undefined {
  if (position.hasDests()) return undefined;
  if (!position.isCheck()) return { title: "Stalemate", result: "½-½" };
  return position.turn === "black"
    ? { title: "Checkmate", result: "1-0", winner: "white" }
    : { title: "Checkmate", result: "0-1", winner: "black" };
}

/** Whether two moves are one. */
export const sameMove = (a: NormalMove, b: NormalMove): boolean => a.from === b.from && a.to === b.to && a.promotion === b.promotion;
