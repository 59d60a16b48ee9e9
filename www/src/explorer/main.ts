/** The opening explorer: the moves that were played from the position on the board, with evaluations. */
import "./explorer.css";
import { bindKeys, moveKeys } from "../shell/page";
import { StatusLine } from "../book/client";
import { writeLinks } from "../link/link";
import { setUpBookPage } from "./book-page";
import { ExplorerPanel } from "./panel";

const { book, state, board, keys } = setUpBookPage(({ move }) =>
  state.play(state.node, move),
);
// The book loads in parallel with the setup. The first lookup reports a failure. The evaluations are opened after the counts are drawn.
book.open().catch(() => {});

const status = new StatusLine(state);
const panel = new ExplorerPanel(state, book, status, {
  play: (from, { move }) => state.play(from, move),
  preview: (step, before) => board.preview(step, before),
  boardUrl: "./",
  // On small screens the table comes first.
  opensFilters: matchMedia("(min-width: 860px) and (min-height: 501px)")
    .matches,
});

state.on(({ node }) => {
  if (!node) return;
  writeLinks(state);
  void panel.ask();
});

status.followLinks();
bindKeys({ ...keys, ...moveKeys("played-moves") });
