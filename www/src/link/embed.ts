/** The page for an `<iframe>` (embed.html): the game of a link, with the scores and glyphs of its PGN. */
import "shelfish/elements";
import { byId } from "../shell/dom";
import { inflate } from "../text/deflate";

const fields = new URLSearchParams(location.hash.slice(1));
byId<HTMLAnchorElement>("whole").href = `./${location.hash}`;
const game = document.querySelector("shelfish-game")!;
game.orientation = fields.get("side") === "black" ? "black" : "white";
game.setAttribute("ply", fields.get("ply") ?? "0");
inflate(fields.get("pgnz") ?? "").then(
  (pgn) => (game.pgn = pgn),
  ({ message }: Error) => (byId("whole").textContent = message),
);
