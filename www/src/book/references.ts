/** The games that a book refers to, as links. */
import type { GameReference, Played } from "shelfish/book";
import { byId, make } from "../shell/dom";

/** Maximum number of games that are shown for a position. */
const SHOWN = 8;

/** Draws the games with the highest ratings, each with the move that was played. */
export function drawReferences({ moves, ended }: Played): void {
  const ofMoves = moves.flatMap(({ san, games = [] }) => games.map((game) => ({ san, game })));
  const all = [...ofMoves, ...(ended.games ?? []).map((game) => ({ san: "ends", game }))];
  all.sort((a, b) => (b.game.rating ?? 0) - (a.game.rating ?? 0));
  byId("games").hidden = all.length === 0;
  byId("references").replaceChildren(...all.slice(0, SHOWN).map(({ san, game }) => make("li", {}, make("span", { className: "san" }, san), " ", ...reference(game))));
}

/** Returns the result of a game, its rating and a link to it. */
export function reference({ url, id, source, number, rating, winner }: GameReference): (string | HTMLElement)[] {
  const result = winner === null ? "½–½" : winner === "white" ? "1–0" : "0–1";
  const place = url ? make("a", { href: url, target: "_blank", rel: "noopener" }, `Lichess ${id}`) : `${source}, game ${number?.toLocaleString("en")}`;
  return [result, rating === undefined ? " " : ` (${rating}) `, place];
}
