/** What identifies a game: its moves, players and site; changes of the tree that can be undone; and short forms of names. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { movesOf, variationOf, type Game, type Node } from "./game";

/** Returns the key of a game in the list of stored games: 106 bits of a non-cryptographic hash. */
export function gameId(
  start: Position,
  moves: readonly string[],
  headers: ReadonlyMap<string, string>,
): string {
  const name = (header: string) =>
    (headers.get(header) ?? "")
      .normalize("NFC")
      .toLowerCase()
      .replace(/[\s.,]+/g, " ")
      .trim();
  const text = [
    makeFen(start.toSetup()),
    moves.join(" "),
    name("White"),
    name("Black"),
  ].join("\n");
  return [0, 1]
    .map((seed) => hash(text, seed).toString(36).padStart(11, "0"))
    .join("");
}

/** cyrb53 by bryc (public domain): a non-cryptographic hash of 53 bits. */
export function hash(text: string, seed = 0): number {
  let [low, high] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low =
    Math.imul(low ^ (low >>> 16), 2246822507) ^
    Math.imul(high ^ (high >>> 13), 3266489909);
  high =
    Math.imul(high ^ (high >>> 16), 2246822507) ^
    Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (2097151 & high) + (low >>> 0);
}

/** A change that can be undone. */
interface Edit {
  /** Undoes the change. Moves that were added since remain. */
  undo(): void;
}

/** Returns the parts of a game that name its source. */
const sourceOf = ({ slug, lichess, id, sourcePlies }: Game) => ({
  slug,
  lichess,
  id,
  sourcePlies,
});

/**
 * Gives a position of the game these next moves: the same moves in another order, or fewer. If they change the main line of the game's source, the
 * game is the reader's own: it has neither the source's name nor its id.
 */
export function arrange(
  game: Game,
  parent: Node,
  children: readonly Node[],
): Edit {
  const [before, source] = [[...parent.children], sourceOf(game)];
  const isOfSource =
    !variationOf(parent) &&
    parent.ply < game.sourcePlies &&
    children[0] !== before[0];
  parent.children.splice(0, Infinity, ...children);
  if (isOfSource) leaveSource(game);
  const after = game.id;
  return {
    undo: () => {
      parent.children.splice(
        0,
        Infinity,
        ...before,
        ...parent.children.filter((child) => !before.includes(child)),
      );
      Object.assign(
        game,
        source,
        after === source.id ? {} : { formerId: after },
      );
    },
  };
}

function leaveSource(game: Game): void {
  game.slug = undefined;
  game.lichess = undefined;
  identify(game, game.mainline().slice(1));
}

/** Makes `line`, the main line, the moves by which the list and links identify the game. */
export function identify(game: Game, line: readonly Node[]): void {
  game.sourcePlies = line.length;
  if (!game.id) return;
  const id = gameId(game.root.position, movesOf(line), game.headers);
  if (id === game.id) return;
  game.formerId = game.id;
  game.id = id;
}

/**
 * Returns Kasparov, Aronian and Shelfish for "Kasparov, Gary", "Aronian,L" and "Shelfish (Club player, 1600)". A name without a comma is returned
 * whole: nothing says whether the family name is its first or its last word ("Bu Xiangzhi", "Magnus Carlsen").
 */
export function surname(name: string): string {
  // Brackets at the end contain a level, a country or a rating.
  const person = name.replace(/\s*\([^()]*\)\s*$/, "").trim() || name.trim();
  const [family = "", ...given] = person.split(",");
  if (given.length > 0) return family.trim().replace(/^Von /, "") || "?";
  // Old databases mark computers with "Comp". The rest is the complete name.
  return person.replace(/^Comp /, "") || "?";
}

/** Returns the year of a date in PGN or as people write it, such as 22.06.2022; empty if unknown. */
const year = (date: string | undefined): string =>
  /(?<!\d)[12]\d{3}(?!\d)/.exec(date ?? "")?.[0] ?? "";

/** Returns "Morphy – Isouard, 1858"; empty if both names are unknown. */
export function players(headers: ReadonlyMap<string, string>): string {
  return pairing(
    headers.get("White"),
    headers.get("Black"),
    headers.get("Date"),
  );
}

/** Returns the same for two names and a date. */
export function pairing(
  white: string | undefined,
  black: string | undefined,
  date: string | undefined,
): string {
  if (!white && !black) return "";
  const when = year(date);
  return `${surname(white || "?")} – ${surname(black || "?")}${when && `, ${when}`}`;
}

/** Returns a name for links and files: "morphy-isouard-1858". */
export function slug(headers: ReadonlyMap<string, string>): string {
  return [
    surname(headers.get("White") ?? ""),
    surname(headers.get("Black") ?? ""),
    year(headers.get("Date")),
  ]
    .join("-")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\s+/g, "-")
    .replace(/[^a-z0-9-]/g, "")
    .replace(/-{2,}/g, "-");
}
