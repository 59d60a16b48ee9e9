/** The games that a book refers to. Games of Lichess and famous games are links to the analysis board. */
import type { GameReference, Played } from "shelfish";
import type { Node } from "../game/game";
import { Latest, loadPart, reportInputError } from "../loading/loading";
import { byId, make, makeButton } from "../shell/dom";

/** Maximum number of games that are shown for a position. */
const SHOWN = 8;
/** Name of the file of the famous games, as a source of a book. */
const FAMOUS = "famous.pgn";

/** Players and years of games of Lichess by id. */
const names = new Map<string, string>();
/** Whether the reader lets the page ask Lichess, until it closes. */
let asks = false;
const asking = new Latest();
/** Milliseconds on a position before Lichess is asked. */
const REST = 500;

/** Draws famous games, then the games with the highest ratings, each with the move that was played. `boardUrl` is the address of the analysis board. */
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
  const rank = ({ source, rating = 0 }: GameReference) =>
    source === FAMOUS ? Infinity : rating;
  all.sort((a, b) => rank(b.game) - rank(a.game) || 0);
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
  await Promise.all([nameFamous(rows, boardUrl, node), namePlayers(rows)]);
}

type Row = { game: GameReference; row: HTMLElement };

/** Names the players of games of Lichess. A book has only the ids of the games: a button asks Lichess, for all later positions too. */
async function namePlayers(rows: readonly Row[]): Promise<void> {
  const signal = asking.begin();
  const unnamed = rows.flatMap(({ game: { id } }) =>
    id && !names.has(id) ? [id] : [],
  );
  const fill = () => {
    for (const { game, row } of rows) {
      const name = names.get(game.id ?? "");
      if (name) row.querySelector("a")?.replaceChildren(name);
    }
  };
  fill();
  if (unnamed.length === 0) return;
  const message = make("p", "quiet");
  byId("references").append(make("li", {}, message));
  const ask = async () => {
    asks = true;
    message.textContent = "Asking Lichess…";
    await reportInputError(
      async () => {
        const { fetchNames } = await loadPart(import("../sites/lichess"));
        for (const [id, name] of await fetchNames(unnamed, signal))
          names.set(id, name);
        fill();
        message.remove();
      },
      (text) => message.replaceChildren(text),
    ).catch(() => {});
  };
  if (!asks)
    return message.append(
      makeButton("name-players", ask, "Who played? Ask Lichess"),
    );
  await new Promise((done) => setTimeout(done, REST));
  if (!signal.aborted) await ask();
}

/** Returns the result of a game, a link to it and its rating. The link shows the position of `node`. */
export function reference(
  { id, source, number, rating, winner }: GameReference,
  boardUrl: string,
  node: Node,
): (string | HTMLElement)[] {
  const result = winner === null ? "½–½" : winner === "white" ? "1–0" : "0–1";
  const place = id
    ? link(`lichess=${id}`, `Lichess ${id}`, boardUrl, node)
    : make("span", "place", `${source}, game ${number?.toLocaleString("en")}`);
  return [result, " ", place, rating === undefined ? "" : ` (${rating})`];
}

/** Replaces the numbers of famous games by links with the names of the players. */
export async function nameFamous(
  rows: readonly Row[],
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
