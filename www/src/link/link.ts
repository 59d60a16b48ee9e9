/**
 * The URL's fragment: which game, which position of it. The game is one of `#game=SLUG` (famous), `#lichess=ID`,
 * `#pgn=…` (URL-encoded), `#pgnz=…` (deflated, base64url), or `#fen=…&moves=e2e4,e7e5` for a board that somebody plays on;
 * `&ply=12` the position, `&line=…` moves that leave the game's own line at that ply.
 */
import { makeUci, parseUci } from "chessops/util";
import { clip, InputError } from "../text/input-error";
import { positionOf } from "../game/fen";
import { Game, lineFrom, type Node, path, uci } from "../game/game";
import type { Refused } from "../pgn/read-text";
import { isEmpty } from "../game/notes";
import { loadPart } from "../loading/page-part";

/** Where games come from that a link only names. */
export interface Sources {
  famous(slug: string): Promise<Game | undefined>;
  lichess(id: string): Promise<Game>;
}

/** What a link names. */
export interface Linked {
  game: Game;
  node: Node;
  /** The side that is below. */
  side?: "black" | "white";
  /** The link was too short for comments and variations, which may be stored here. */
  abridged: boolean;
  /** What else its PGN has: more games, and those that cannot be opened. */
  others: Game[];
  refused: Refused[];
}

/** Longest link that is made. Chats and mails cut longer ones. */
const MAX_LINK = 8_000;

/** What names a game in links, once it is known. */
const names = new WeakMap<Game, string>();

/** The fragment of a position of a game, without "#"; empty for the initial position of an empty board. */
export function formatLink(game: Game, node: Node): string {
  const name = nameOf(game);
  const main = lineFrom(game.root).slice(1, name ? game.sourcePlies + 1 : undefined);
  const nodes = path(node).slice(1);
  const shared = nodes.findIndex((at, index) => at !== main[index]);
  const ply = shared === -1 ? nodes.length : shared;
  const parts: string[] = [];
  if (name) parts.push(name);
  else {
    if (!game.startsAsUsual) parts.push(`fen=${game.root.fen.replaceAll(" ", "_")}`);
    if (main.length > 0) parts.push(`moves=${joined(main)}`);
  }
  if (ply > 0) parts.push(`ply=${ply}`);
  if (ply < nodes.length) parts.push(`line=${joined(nodes.slice(ply))}`);
  return parts.join("&");
}

/** Finds the shortest name of a game that links have to hold whole. True if it has another one now, which `formatLink` uses. */
export async function shortenLink(game: Game): Promise<boolean> {
  const known = nameOf(game);
  if (known ? !known.startsWith("pgn=") : !hasDetails(game)) return false;
  const { toPgn } = await import("../pgn/write-game");
  const [compact, moves] = [toPgn(game, "compact"), toPgn(game, "moves")];
  const plain = (text: string) => Promise.resolve(`pgn=${encodeURIComponent(text)}`);
  const within = async (most: number, written: (text: string) => Promise<string>) => {
    const whole = await written(compact);
    return whole.length <= most ? whole : `${await written(moves)}&abridged=1`;
  };
  const long = known ?? (await within(4 * MAX_LINK, plain));
  // A browser that cannot deflate keeps the long one.
  const folded = await within(MAX_LINK, async (text) => `pgnz=${await (await import("../text/deflate")).deflate(text)}`).catch(() => long);
  const name = folded.length < long.length ? folded : long;
  names.set(game, name);
  return name !== known;
}

/** What a fragment names. Throws an `InputError` for a fragment that makes no sense. */
export async function parseLink(fragment: string, sources: Sources): Promise<Linked> {
  const fields = new Map(fragment.replace(/^#/, "").split("&").map(field));
  const [slug, pgn, folded, lichess] = ["game", "pgn", "pgnz", "lichess"].map((name) => fields.get(name));
  const [id = "", side] = lichess?.split("/") ?? [];
  const text = folded ? await (await loadPart(import("../text/deflate"))).inflate(folded) : spaced(pgn ?? "");
  const { games, refused } = text ? (await loadPart(import("../pgn/read-text"))).read(text) : { games: [], refused: [] };
  const [first, ...others] = games;
  const game = slug ? await sources.famous(slug) : id ? await sources.lichess(id) : first;
  if (slug && !game) throw new InputError(`The link names a game that is not here: ${clip(slug)}.`);
  const linked = game ?? played(fields.get("fen"), fields.get("moves"));
  if (pgn || folded) names.set(linked, `${folded ? "pgnz" : "pgn"}=${folded ?? encodeURIComponent(spaced(pgn ?? ""))}${fields.has("abridged") ? "&abridged=1" : ""}`);
  const main = linked.mainline();
  const wanted = Math.trunc(Number(fields.get("ply") ?? 0)) || 0;
  const at = main[Math.max(0, Math.min(wanted, main.length - 1))] ?? linked.root;
  return {
    game: linked,
    node: follow(linked, at, fields.get("line")),
    abridged: fields.has("abridged"),
    others,
    refused,
    ...(side === "black" || side === "white" ? { side } : {}),
  };
}

/** What names the game whole; undefined for a board that somebody just plays on, and until `shortenLink` has found it. */
function nameOf(game: Game): string | undefined {
  if (game.slug) return `game=${game.slug}`;
  if (game.site?.id) return `lichess=${game.site.id}`;
  return names.get(game);
}

/** Whether more is known of the game than its moves. */
function hasDetails(game: Game): boolean {
  if (game.sourcePlies === 0 && game.headers.size === 0) return false;
  return game.headers.size > 0 || lineFrom(game.root).some((node, ply) => !isEmpty(node.notes) || (ply < game.sourcePlies && node.children.length > 1));
}

function played(fen: string | undefined, moves: string | undefined): Game {
  const game = fen ? new Game(positionOf(fen.replaceAll("_", " ").trim())) : new Game();
  follow(game, game.root, moves);
  game.sourcePlies = game.mainline().length - 1;
  return game;
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

function field(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, ""] : [text.slice(0, at), decoded(text.slice(at + 1))];
}

/** Some programs write a plus for a space. */
const spaced = (text: string): string => (/\s/.test(text) ? text : text.replaceAll("+", " "));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
