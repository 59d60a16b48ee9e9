/** The page that installs the bookmarklet. */
import code from "virtual:bookmarklet";
import { byId, copy } from "../shell/dom";
import { bindTheme } from "../shell/page";
import { boardBeside, bookmarkletLink } from "./pgn";

const board = boardBeside(location.href);
const link = bookmarkletLink(code, board);

bindTheme();

const button = byId<HTMLAnchorElement>("bookmarklet");
button.href = link;
button.addEventListener("click", (event) => {
  event.preventDefault();
  byId("installed").textContent =
    "This is the button to drag. Press it in your bookmarks bar, on the page of a game.";
});
byId("size").textContent =
  `one link of ${link.length.toLocaleString("en")} characters`;

byId("copy").addEventListener("click", () => {
  const said = byId("copied");
  void copy(link).then((isCopied) => {
    said.textContent = isCopied
      ? "Copied. Paste it as the address of a bookmark."
      : "This browser does not let the page copy. Copy the address of the button by its context menu.";
  });
});
