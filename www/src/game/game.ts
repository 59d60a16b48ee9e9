/** A game as a tree of positions. The first child of a node continues the main line. */
import {
  castlingSide,
  Chess,
  normalizeMove,
  type Position,
} from "chessops/chess";
import { chessgroundMove } from "chessops/compat";
import { INITIAL_FEN, makeFen } from "chessops/fen";
import { makeSan } from "chessops/san";
import { isNormal, type Move, type NormalMove } from "chessops/types";
import { kingCastlesTo, makeUci, parseUci, squareRank } from "chessops/util";
import type { CommentShape } from "chessops/pgn";

/** Maximum number of moves of a game, variations included. */
export const MAX_MOVES = 20_000;

/** A position of the tree and the move that led to it. */
export interface Node {
  readonly parent?: Node;
  /** Number of plies from the root. */
  readonly ply: number;
  /** Undefined at the root only. */
  readonly move?: NormalMove;
  /** SAN of `move`; empty at the root. */
  readonly san: string;
  readonly position: Position;
  readonly fen: string;
  readonly children: Node[];
  /** Notes of the PGN about `move`. */
  readonly notes: Notes;
}

/** A move of a line, with the position after it. */
export interface Step {
  readonly move: NormalMove;
  readonly san: string;
  readonly position: Position;
  readonly number: string;
}

/** A tree of positions with the game's headers. */
export class Game {
  readonly root: Node;
  /** Number of plies of the main line in the game's source. Moves that are played on the board are additions. */
  sourcePlies = 0;
  /** Id on Lichess, if the game came from there. */
  lichess?: string | undefined;
  /** Key in the list of stored games. */
  id?: string;
  /** Key in the list before the main line was changed. */
  formerId?: string;

  constructor(
    start: Position = Chess.default(),
    /** PGN headers; empty for a game that is played on the board. */
    readonly headers: ReadonlyMap<string, string> = new Map(),
    /** Name in the menu of famous games and in links. */
    public slug?: string | undefined,
  ) {
    this.root = {
      ply: 0,
      san: "",
      position: start,
      fen: makeFen(start.toSetup()),
      children: [],
      notes: { nags: [] },
    };
  }

  /** Returns the node after `move`, which must be legal. Adds the node to the tree if necessary. */
  play(node: Node, move: Move): Node {
    if (!isNormal(move)) return node;
    const legal = normalizeMove(node.position, move) as NormalMove;
    const known = node.children.find(
      (child) => child.move && sameMove(child.move, legal),
    );
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

  /** Returns the root and the main line. */
  mainline(): Node[] {
    return lineFrom(this.root);
  }

  /** Whether the game starts from the standard starting position. */
  get startsAsUsual(): boolean {
    return this.root.fen === INITIAL_FEN;
  }
}

/** Returns `node` and its first descendants. */
export function lineFrom(node: Node): Node[] {
  const line = [node];
  for (let next = node.children[0]; next; next = next.children[0])
    line.push(next);
  return line;
}

/** Returns the nodes from the root to `node`. */
export function path(node: Node): Node[] {
  const nodes: Node[] = [];
  for (let at: Node | undefined = node; at; at = at.parent) nodes.unshift(at);
  return nodes;
}

/** Returns the first move of the variation that contains the node; `undefined` in the main line. */
export function variationOf(node: Node): Node | undefined {
  for (let at: Node | undefined = node; at?.parent; at = at.parent)
    if (at.parent.children[0] !== at) return at;
  return undefined;
}

/** Returns "12." for a move of White, "12…" for a move of Black; `position` is the position before the move. */
export function moveNumber(position: Position): string {
  return `${position.fullmoves}${position.turn === "white" ? "." : "…"}`;
}

/** Returns a move as in a line: "12. Nf3", "Nf6", or "12… Nf6" at the beginning of the line. */
export function moveText({ parent, san }: Node, isFirst: boolean): string {
  return parent && (isFirst || parent.position.turn === "white")
    ? `${moveNumber(parent.position)} ${san}`
    : san;
}

/** Converts UCI moves to steps. Ends at the first move that is not legal. */
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

/** Returns the two squares of a move for display: a castling king goes to the g or c file. */
export function squares(before: Position, move: NormalMove): string[] {
  const side = castlingSide(before, move);
  return chessgroundMove(
    side ? { ...move, to: kingCastlesTo(before.turn, side) } : move,
  );
}

/** Returns the move in UCI. Castling is the king's move to its rook, which is unambiguous in Chess960. */
export const uci = (move: NormalMove): string => makeUci(move);

/** Returns the moves of a line in UCI. */
export const movesOf = (line: readonly Node[]): string[] =>
  line.flatMap(({ move }) => (move ? [uci(move)] : []));

/** Returns the result of the game if the position has no legal move. */
export function ending(
  position: Position,
):
  | { title: string; result: "1-0" | "0-1" | "½-½"; winner?: "white" | "black" }
  | undefined {
  if (position.hasDests()) return undefined;
  if (!position.isCheck()) return { title: "Stalemate", result: "½-½" };
  return position.turn === "black"
    ? { title: "Checkmate", result: "1-0", winner: "white" }
    : { title: "Checkmate", result: "0-1", winner: "black" };
}

/** Whether two moves are equal. */
export const sameMove = (a: NormalMove, b: NormalMove): boolean =>
  a.from === b.from && a.to === b.to && a.promotion === b.promotion;

/** Returns the first four fields of the FEN, which are equal for repetitions of a position. */
export const positionKey = ({ fen }: Pick<Node, "fen">): string =>
  fen.split(" ", 4).join(" ");

/** Whether a move of a piece between two squares is a promotion. */
export const isPromotion = (
  { board }: Position,
  from: number,
  to: number,
): boolean =>
  board.pawn.has(from) && (squareRank(to) === 0 || squareRank(to) === 7);

/** An evaluation in the PGN, from White's point of view. */
export interface Given {
  cp?: number;
  /** Moves to mate; negative if Black mates. */
  mate?: number;
  depth?: number;
}

/** Annotations of one move, or of the game at the root. */
export interface Notes {
  /** Comment before the move. */
  before?: string;
  /** Comment after the move, without `[%…]` commands. */
  comment?: string;
  /** Numeric annotation glyphs, 1 to 255; 1 to 6 are `!`, `?`, `!!`, `??`, `!?`, `?!`. */
  nags: number[];
  /** Seconds left on the mover's clock, `[%clk]`. */
  clock?: number;
  /** Seconds spent on the move, `[%emt]`. */
  elapsed?: number;
  /** `[%eval]` */
  given?: Given;
  /** Squares and arrows, `[%csl]` and `[%cal]`. */
  shapes?: CommentShape[];
}

/** Whether there are no annotations. */
export const isEmpty = ({ nags, ...others }: Notes): boolean =>
  nags.length === 0 &&
  Object.values(others).every((value) => value === undefined || value === "");
