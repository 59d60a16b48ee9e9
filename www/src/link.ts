/**
 * The URL's fragment: which game, which position of it. `#game=SLUG&ply=12` or `#fen=…&moves=e2e4,e7e5&ply=1`,
 * both with `&line=…` for moves that leave the game's own line at that ply.
 */
import { makeUci, parseUci } from "chessops/util";
import { Game, lineFrom, type Node, path, uci } from "./game";
import { InputError, readFen } from "./input";

/** The fragment of a position of a game, without "#"; empty for the initial position of an empty board. */
export function format(game: Game, node: Node): string {
  const main = lineFrom(game.root).slice(1, game.slug ? game.sourcePlies + 1 : undefined);
  const nodes = path(node).slice(1);
  const shared = nodes.findIndex((at, index) => at !== main[index]);
  const ply = shared === -1 ? nodes.length : shared;
  const parts: string[] = [];
  if (game.slug) parts.push(`game=${game.slug}`);
  else {
    if (!game.startsAsUsual) parts.push(`fen=${game.root.fen.replaceAll(" ", "_")}`);
    if (main.length > 0) parts.push(`moves=${joined(main)}`);
  }
  if (ply > 0) parts.push(`ply=${ply}`);
  if (ply < nodes.length) parts.push(`line=${joined(nodes.slice(ply))}`);
  return parts.join("&");
}

/** What a fragment names; `find` knows the games by slug. Throws an `InputError` for a fragment that makes no sense. */
export function parse(fragment: string, find: (slug: string) => Game | undefined): { game: Game; node: Node } {
  const fields = new Map(
    fragment
      .replace(/^#/, "")
      .split("&")
      .map((field) => field.split("=", 2).map(decoded) as [string, string]),
  );
  const slug = fields.get("game");
  const fen = fields.get("fen");
  const game = slug ? find(slug) : fen ? readFen(fen.replaceAll("_", " ")) : new Game();
  if (!game) throw new InputError(`The link names a game that is not here: ${slug?.slice(0, 40)}.`);
  if (!slug) {
    follow(game, game.root, fields.get("moves"));
    game.sourcePlies = game.mainline().length - 1;
  }
  const main = game.mainline();
  const wanted = Math.trunc(Number(fields.get("ply") ?? 0)) || 0;
  const at = main[Math.max(0, Math.min(wanted, main.length - 1))] ?? game.root;
  return { game, node: follow(game, at, fields.get("line")) };
}

const joined = (nodes: Node[]): string => nodes.flatMap((node) => (node.move ? uci(node.move) : [])).join(",");

function follow(game: Game, from: Node, line: string | undefined): Node {
  let node = from;
  for (const text of line ? line.split(",") : []) {
    const move = parseUci(text);
    if (!move || !node.position.isLegal(move)) throw new InputError(`The link holds a move that is not legal: ${(move ? makeUci(move) : text).slice(0, 10)}.`);
    node = game.play(node, move);
  }
  return node;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
