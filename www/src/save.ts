/** A game as text that can be taken along. */
import { ChildNode, makePgn, Node as PgnNode, type PgnNodeData } from "chessops/pgn";
import type { Game, Node } from "./game";
import { slug } from "./names";
import { written } from "./notes";

/** The headers that every PGN has, in their order. */
const ROSTER = { Event: "?", Site: "?", Date: "????.??.??", Round: "?", White: "?", Black: "?", Result: "*" };

/** The game with all its variations and notes as PGN. */
export function toPgn(game: Game): string {
  const headers = new Map(Object.entries(ROSTER));
  for (const [name, value] of game.headers) headers.set(name, value.replace(/[\r\n]+/g, " "));
  if (!game.startsAsUsual) headers.set("SetUp", "1").set("FEN", game.root.fen);
  const moves = new PgnNode<PgnNodeData>();
  const open: [from: Node, to: PgnNode<PgnNodeData>][] = [[game.root, moves]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to] = next;
    for (const child of from.children) {
      const copy = new ChildNode(data(child));
      to.children.push(copy);
      open.push([child, copy]);
    }
  }
  const comment = written(game.root.notes);
  return makePgn({ headers, moves, ...(comment ? { comments: [comment] } : {}) });
}

/** A name for the file: "morphy-isouard-1858.pgn". */
export function fileName(game: Game): string {
  const name = game.headers.has("White") || game.headers.has("Black") ? slug(game.headers).replace(/^-+|-+$/g, "") : "";
  return `${name || "game"}.pgn`;
}

/** Lets the browser save a text as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-chess-pgn" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Puts a text on the clipboard; false if the browser does not allow it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function data({ san, notes }: Node): PgnNodeData {
  const comment = written(notes);
  return {
    san,
    nags: notes.nags,
    ...(notes.before ? { startingComments: [notes.before] } : {}),
    ...(comment ? { comments: [comment] } : {}),
  };
}
