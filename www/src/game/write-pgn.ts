/** Writes a game as PGN. */
import {
  ChildNode,
  type Evaluation,
  makeComment,
  makePgn,
  Node as PgnNode,
  type PgnNodeData,
} from "chessops/pgn";
import { Game, type Given, type Node, type Notes, path } from "./game";
import { slug } from "./identity";

/** The headers of every PGN, in their order. */
const ROSTER = {
  Event: "?",
  Site: "?",
  Date: "????.??.??",
  Round: "?",
  White: "?",
  Black: "?",
  Result: "*",
};

/** Extent of the PGN: a complete file, without empty headers, or only headers and main line. */
type Extent = "file" | "compact" | "moves";

/** Writes the game as PGN, by default with all its variations and notes. */
export function toPgn(game: Game, extent: Extent = "file"): string {
  const headers = new Map(extent === "file" ? Object.entries(ROSTER) : []);
  for (const [name, value] of game.headers)
    headers.set(name, value.replace(/\s+/g, " "));
  if (!game.startsAsUsual) headers.set("SetUp", "1").set("FEN", game.root.fen);
  const moves = new PgnNode<PgnNodeData>();
  const open: [from: Node, to: PgnNode<PgnNodeData>][] = [[game.root, moves]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to] = next;
    for (const child of extent === "moves"
      ? from.children.slice(0, 1)
      : from.children) {
      const copy = new ChildNode(
        extent === "moves" ? { san: child.san } : data(child),
      );
      to.children.push(copy);
      open.push([child, copy]);
    }
  }
  const comment = extent === "moves" ? undefined : commentText(game.root.notes);
  return makePgn({
    headers,
    moves,
    ...(comment ? { comments: [comment] } : {}),
  });
}

/** Writes the moves to a position as PGN. */
export function pgnTo(game: Game, node: Node): string {
  const headers = new Map(game.headers);
  if (node.children.length > 0) headers.set("Result", "*");
  const part = new Game(game.root.position, headers);
  path(node).reduce(
    (at, { move }) => (move ? part.play(at, move) : at),
    part.root,
  );
  return toPgn(part);
}

/** Returns a file name: "morphy-isouard-1858.pgn". */
export function fileName(game: Game): string {
  const name =
    game.slug ??
    (game.headers.has("White") || game.headers.has("Black")
      ? slug(game.headers).replace(/^-+|-+$/g, "")
      : "");
  return `${name || "game"}.pgn`;
}

/** Downloads a text as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(
    new Blob([text], { type: "application/x-chess-pgn" }),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function data({ san, notes }: Node): PgnNodeData {
  const comment = commentText(notes);
  return {
    san,
    nags: notes.nags,
    ...(notes.before ? { startingComments: [notes.before] } : {}),
    ...(comment ? { comments: [comment] } : {}),
  };
}

/** Returns the comment after the move in PGN's notation, without braces; `undefined` without a comment. */
function commentText(notes: Notes): string | undefined {
  const { comment, shapes, given, elapsed, clock } = notes;
  const evaluation = given && pawns(given);
  const text = makeComment({
    ...(comment ? { text: comment } : {}),
    ...(shapes ? { shapes } : {}),
    ...(evaluation ? { evaluation } : {}),
    ...(elapsed === undefined ? {} : { emt: elapsed }),
    ...(clock === undefined ? {} : { clock }),
  });
  return text || undefined;
}

function pawns({ cp, mate, depth }: Given): Evaluation | undefined {
  const withDepth = depth === undefined ? {} : { depth };
  if (mate !== undefined) return { mate, ...withDepth };
  return cp === undefined ? undefined : { pawns: cp / 100, ...withDepth };
}
