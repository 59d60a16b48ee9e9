/** The games that a book refers to. Games of Lichess and famous games are links to the analysis board. */
import type { GameReference, Played } from "shelfish";
import type { Node } from "../game/game";
import { byId, make } from "../shell/dom";

/** Maximum number of games that are shown for a position. */
const SHOWN = 8;
/** Name of the file of the famous games, as a source of a book. */
const FAMOUS = "famous.pgn";

/** Draws the games with the highest ratings, each with the move that was played. `boardUrl` is the address of the analysis board. */
export async function drawReferences(
  { moves, ended }: Played,
  node: Node,
  boardUrl: string,
): Promise<void> {
  const ofMoves = moves.flatMap(({ san, games = [] }) =>
    games.map((game) => ({ san, game })),
  );
  const all = [
    ...ofMoves,
    ...(ended.games ?? []).map((game) => ({ san: "ends", game })),
  ];
  all.sort((a, b) => (b.game.rating ?? 0) - (a.game.rating ?? 0));
  byId("book-games").hidden = all.length === 0;
  const rows = all.slice(0, SHOWN).map(({ san, game }) => ({
    game,
    row: make(
      "li",
      {},
      make("span", "san", san),
      " ",
      ...reference(game, boardUrl, node),
    ),
  }));
  byId("references").replaceChildren(...rows.map(({ row }) => row));
  await nameFamous(rows, boardUrl, node);
}

/** Returns the result of a game, its rating and a link to it. The link shows the position of `node`. */
export function reference(
  { id, source, number, rating, winner }: GameReference,
  boardUrl: string,
  node: Node,
): (string | HTMLElement)[] {
  const result = winner === null ? "½–½" : winner === "white" ? "1–0" : "0–1";
  const place = id
    ? link(`lichess=${id}`, `Lichess ${id}`, boardUrl, node)
    : make("span", "place", `${source}, game ${number?.toLocaleString("en")}`);
  return [result, rating === undefined ? " " : ` (${rating}) `, place];
}

/** Replaces the numbers of famous games by links with the names of the players. */
export async function nameFamous(
  rows: readonly { game: GameReference; row: HTMLElement }[],
  boardUrl: string,
  node: Node,
): Promise<void> {
  const of = rows.filter(({ game }) => game.source === FAMOUS);
  if (of.length === 0) return;
  // The list works without names.
  const { famous } = await import("../games/famous-games").catch(() => ({
    famous: [],
  }));
  for (const { game, row } of of) {
    const found = famous.find(({ number }) => number === game.number);
    if (found)
      row
        .querySelector(".place")
        ?.replaceWith(
          link(`game=${found.slug}`, found.players, boardUrl, node),
        );
  }
}

function link(
  game: string,
  words: string,
  boardUrl: string,
  { position }: Node,
): HTMLElement {
  const ply =
    2 * (position.fullmoves - 1) + (position.turn === "black" ? 1 : 0);
  return make(
    "a",
    { href: `${boardUrl}#${game}${ply > 0 ? `&ply=${ply}` : ""}` },
    words,
  );
}
