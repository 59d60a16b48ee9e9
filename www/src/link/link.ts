/**
 * Links to a position of a game, in the URL's fragment. The game is `#game=SLUG` (famous), `#lichess=ID`, `#pgn=…` (URL-encoded), `#pgnz=…`
 * (deflated, base64url), or `#fen=…&moves=e2e4,e7e5`. `&ply=12` is the position; `&line=…` are moves that leave the game's main line there.
 * `&side=black` turns the board. `&report=…` is the settled report: see report-link.ts.
 */
import { makeUci, parseUci } from "chessops/util";
import { clip, decodeUri, InputError } from "../text/words";
import { positionOf } from "../game/fen";
import { identify } from "../game/identity";
import {
  Game,
  isEmpty,
  lineFrom,
  MAX_MOVES,
  movesOf,
  type Node,
  path,
} from "../game/game";
import type { Refused } from "../game/read-pgn";
import { loadPart } from "../loading/loading";
import { lichessGame } from "./sites";
import { byId } from "../shell/dom";
import type { State } from "../state/state";

/** Loads games that a link identifies by name or id. */
export interface Sources {
  famous(slug: string): Promise<Game | undefined>;
  lichess(id: string): Promise<Game>;
}

/** The game and the position of a link. */
export interface Linked {
  game: Game;
  node: Node;
  /** Side at the bottom. */
  side?: "black" | "white";
  /** The other games of the PGN, and the games that cannot be opened. */
  others: Game[];
  refused: Refused[];
  /** The packed report of the game. */
  report?: string | undefined;
}

/** Maximum length of a link: chats and mail programs cut longer links. */
const MAX_LINK = 8_000;

/** The part of the link that identifies a game, if it was computed. */
const names = new WeakMap<Game, string>();

/** The games whose links contain all their moves, variations and notes, with the number of their last change. */
const own = new WeakMap<Game, number>();

/** Returns the fragment of a position of a game, without "#"; empty for the starting position of an empty board. */
export function formatLink(game: Game, node: Node): string {
  const name = nameOf(game);
  const main = lineFrom(game.root).slice(
    1,
    name ? game.sourcePlies + 1 : undefined,
  );
  const nodes = path(node).slice(1);
  const shared = nodes.findIndex((at, index) => at !== main[index]);
  const ply = shared === -1 ? nodes.length : shared;
  const parts: string[] = [];
  if (name) parts.push(name);
  else {
    if (!game.startsAsUsual)
      parts.push(`fen=${game.root.fen.replaceAll(" ", "_")}`);
    if (main.length > 0) parts.push(`moves=${joined(main)}`);
  }
  if (ply > 0) parts.push(`ply=${ply}`);
  if (ply < nodes.length) parts.push(`line=${joined(nodes.slice(ply))}`);
  return parts.join("&");
}

/** Computes the shortest link part for a game that must be contained in its links. Returns true if it has changed; `formatLink` then uses it. */
export async function shortenLink(game: Game): Promise<boolean> {
  const known = nameOf(game);
  const version = own.get(game);
  if (
    known
      ? !known.startsWith("pgn=")
      : version === undefined && !hasDetails(game)
  )
    return false;
  const { toPgn } = await import("../game/write-pgn");
  const { deflate } = await import("../text/deflate");
  const whole = `pgnz=${await deflate(toPgn(game, "compact"))}`;
  const name =
    whole.length <= MAX_LINK
      ? whole
      : `pgnz=${await deflate(toPgn(game, "moves"))}`;
  // The game has changed again, and another call computes its link.
  if (own.get(game) !== version) return false;
  names.set(game, name);
  return name !== known;
}

/**
 * Returns whether the link part of a game must be computed again after a change of its tree: if variations were promoted or deleted, and for games
 * without players, which the list need not have. In other games, moves that are played on the board follow the link part.
 */
export function outdatesLink(game: Game, isEdited: boolean): boolean {
  if (game.slug || game.lichess) return false;
  const line = lineFrom(game.root);
  const isOwn =
    isEdited ||
    own.has(game) ||
    (game.headers.size === 0 &&
      line.some(({ children }) => children.length > 1));
  if (!isOwn) return false;
  own.set(game, (own.get(game) ?? 0) + 1);
  names.delete(game);
  identify(game, line.slice(1));
  return true;
}

/** Gives a copy of a game the link part of the other copy, unless it has its own. */
export function shareLink(from: Game, to: Game): void {
  const name = names.get(from);
  if (name !== undefined && !nameOf(to)) names.set(to, name);
}

/** Reads a fragment. Throws an `InputError` if it is invalid. */
export async function parseLink(
  fragment: string,
  sources: Sources,
): Promise<Linked> {
  const fields = new Map(fragment.replace(/^#/, "").split("&").map(field));
  const [slug, pgn, folded, lichess] = ["game", "pgn", "pgnz", "lichess"].map(
    (name) => fields.get(name),
  );
  const source = lichess === undefined ? undefined : lichessGame(lichess);
  if (lichess !== undefined && !source)
    throw new InputError(
      `The link does not name a game of Lichess: ${clip(lichess)}. An id has eight letters and digits.`,
    );
  const text = folded
    ? await (await loadPart(import("../text/deflate"))).inflate(folded)
    : spaced(pgn ?? "");
  const { games, refused } = text
    ? await (await loadPart(import("../game/read-pgn"))).read(text)
    : { games: [], refused: [] };
  const [first, ...others] = games;
  const game = slug
    ? await sources.famous(slug)
    : source
      ? await sources.lichess(source.id)
      : first;
  if (slug && !game)
    throw new InputError(
      `This site has no famous game with the name in the link: ${clip(slug)}.`,
    );
  const linked = game ?? played(fields.get("fen"), fields.get("moves"));
  if (pgn || folded)
    names.set(
      linked,
      `${folded ? "pgnz" : "pgn"}=${folded ?? encodeURIComponent(spaced(pgn ?? ""))}`,
    );
  const main = linked.mainline();
  const side = source?.side ?? fields.get("side");
  const wanted = Math.trunc(Number(fields.get("ply") ?? 0)) || 0;
  const at =
    main[Math.max(0, Math.min(wanted, main.length - 1))] ?? linked.root;
  return {
    game: linked,
    node: follow(linked, at, fields.get("line")),
    others,
    refused,
    report: fields.get("report"),
    ...(side === "white" || side === "black" ? { side } : {}),
  };
}

/** Returns the link part that identifies the game; `undefined` for a game that is played on the board, and before `shortenLink` has computed it. */
function nameOf(game: Game): string | undefined {
  if (game.slug) return `game=${game.slug}`;
  if (game.lichess) return `lichess=${game.lichess}`;
  return names.get(game);
}

/** Whether the game has headers, notes or variations in addition to its moves. */
function hasDetails(game: Game): boolean {
  if (game.sourcePlies === 0 && game.headers.size === 0) return false;
  return (
    game.headers.size > 0 ||
    lineFrom(game.root).some(
      (node, ply) =>
        !isEmpty(node.notes) ||
        (ply < game.sourcePlies && node.children.length > 1),
    )
  );
}

function played(fen: string | undefined, moves: string | undefined): Game {
  const game = fen ? new Game(positionOf(fen.trim())) : new Game();
  follow(game, game.root, moves);
  game.sourcePlies = game.mainline().length - 1;
  return game;
}

const joined = (nodes: Node[]): string => movesOf(nodes).join(",");

function follow(game: Game, from: Node, line: string | undefined): Node {
  let node = from;
  const moves = line ? line.split(",", MAX_MOVES + 1) : [];
  if (moves.length > MAX_MOVES)
    throw new InputError(
      `The link contains more than ${MAX_MOVES.toLocaleString("en")} moves.`,
    );
  for (const text of moves) {
    const move = parseUci(text);
    if (!move || !node.position.isLegal(move))
      throw new InputError(
        `The link contains an illegal move: ${(move ? makeUci(move) : text).slice(0, 10)}.`,
      );
    node = game.play(node, move);
  }
  return node;
}

function field(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1
    ? [text, ""]
    : [text.slice(0, at), decodeUri(text.slice(at + 1))];
}

/** Some programs encode spaces as plus signs. */
const spaced = (text: string): string =>
  /\s/.test(text) ? text : text.replaceAll("+", " ");

/** Shows the position of the address. If the address is invalid, shows the starting position and the message. */
export function followLinks(
  state: State,
  showMessage: (error: string) => void,
): void {
  let latest = 0;
  followAddress(async (fragment) => {
    const asked = ++latest;
    const none = () =>
      Promise.reject(new InputError("This link is one of the analysis board."));
    try {
      const { game, node } = await parseLink(fragment, {
        famous: none,
        lichess: none,
      });
      // The address has changed during the lookup.
      if (asked !== latest) return;
      state.enter(game, node);
    } catch (error) {
      if (asked !== latest) return;
      if (!(error instanceof InputError)) throw error;
      state.enter(new Game());
      showMessage(error.message);
    }
  });
}

/** Writes the position to the address, and to the link to the analysis board. */
export function writeLinks(state: State): void {
  const fragment = formatLink(state.game, state.node);
  writeAddress(fragment);
  linkBoard(fragment);
}

/** Writes a position to the link to the analysis board. */
export function linkBoard(fragment: string): void {
  byId<HTMLAnchorElement>("analyse").href = `./${fragment && `#${fragment}`}`;
}

let timer = 0;
/** Address that is to be written. Browsers refuse addresses that change too often. */
let due: string | undefined;

/** Writes the fragment (without "#") after a short delay; with `push`, immediately and as a new history entry. */
export function writeAddress(fragment: string, push = false): void {
  const url = fragment ? `#${fragment}` : location.pathname + location.search;
  if (push) {
    flush();
    history.pushState(null, "", url);
  } else {
    due = url;
    window.clearTimeout(timer);
    timer = window.setTimeout(flush, 150);
  }
}

/** Calls `restore` with the fragment, now and after each navigation or change of the address. */
export function followAddress(restore: (fragment: string) => void): void {
  followNavigation(restore);
  restore(location.hash.slice(1));
}

/** Calls `restore` with the fragment after each navigation or change of the address. */
export function followNavigation(restore: (fragment: string) => void): void {
  window.addEventListener("pagehide", flush);
  window.addEventListener("popstate", () => {
    window.clearTimeout(timer);
    due = undefined;
    restore(location.hash.slice(1));
  });
}

function flush(): void {
  window.clearTimeout(timer);
  if (due !== undefined) history.replaceState(null, "", due);
  due = undefined;
}
