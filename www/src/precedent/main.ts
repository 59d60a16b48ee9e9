/** Precedent: a game against oneself that allows only moves that were played before. */
import "./precedent.css";
import type { Played } from "shelfish";
import { bindMove, bindPreviewEnd, Board } from "../board/board";
import { BookClient, StatusLine } from "../book/client";
import { games, percent } from "../book/results";
import {
  bindClicks,
  bindKeys,
  focusMove,
  moveKeys,
  bindTheme,
  keepForOffline,
  restrictConnections,
} from "../shell/page";
import { DatabaseClient } from "../database/client";
import { nameFamous, reference } from "../explorer/references";
import {
  Game,
  moveText,
  type Node,
  path,
  sameMove,
  type Step,
  uci,
} from "../game/game";
import { Latest } from "../loading/loading";
import { loadOpenings, showOpening } from "../moves/openings";
import { writeLinks } from "../link/link";
import { applyPieces, bookUrl, manifestUrl } from "../settings/settings";
import { byId, disable, make } from "../shell/dom";
import { State } from "../state/state";
import { capitalised, plural } from "../text/words";
import { type Choice, choices, gameEnd, targets } from "./rules";

/** Number of games that are named at the end of a game. */
const MAX_GAMES = 3;

const evals = new DatabaseClient(manifestUrl());
const book = new BookClient(bookUrl(), evals);
restrictConnections(evals.url, book.url);
bindTheme();
applyPieces();
// The book loads in parallel with the setup. The first lookup reports a failure.
book.open().catch(() => {});

const state = new State();
const status = new StatusLine(state);
const asking = new Latest();
/** The moves that can be played from the position on the board, once they are known. */
let available: Choice[] = [];

const board = new Board((move) =>
  available.some(({ step }) => sameMove(step.move, move))
    ? play({ move })
    : showBoard(),
);
const showBoard = () =>
  board.show(
    state.node,
    available.length > 0,
    targets(state.node.position, available),
  );

const play = ({ move }: Pick<Step, "move">) => state.play(state.node, move);

/** Looks up the position on the board and shows the moves that can be played. */
async function ask(): Promise<void> {
  const signal = asking.begin();
  const { node } = state;
  available = [];
  showBoard();
  if (byId("end").contains(document.activeElement))
    byId("flip").focus({ preventScroll: true });
  byId("end").hidden = true;
  byId("moves").classList.add("stale");
  try {
    const [played, before] = await status.waitFor(
      Promise.all([
        book.moves(node.fen, signal),
        node.parent && book.moves(node.parent.fen, signal),
      ]),
    );
    if (signal.aborted) return;
    show(node, played, before);
    keepForOffline();
    // The game works without opening names.
    void loadOpenings().then(
      () => showOpening(state),
      () => {},
    );
  } catch (error) {
    if (signal.aborted) return;
    byId("moves").replaceChildren();
    status.showError(error, () => void ask());
  }
}

function show(node: Node, played: Played, before: Played | undefined): void {
  available = choices(node.position, played);
  showBoard();
  list();
  byId("moves").classList.remove("stale");
  status.ready();
  byId("reached").textContent = `${plural(games(played), "game")} in this book`;
  if (available.length > 0)
    return status.show(
      `${capitalised(state.node.position.turn)} to move: ${plural(available.length, "move")} with a precedent.`,
    );
  const end = gameEnd(node, played, before, book.manifest?.info ?? {});
  byId("end-title").textContent = end.title;
  byId("end-text").textContent = end.text;
  const rows = end.games.slice(0, MAX_GAMES).map((game) => ({
    game,
    row: make("li", {}, ...reference(game, "./", node)),
  }));
  byId("end-games").replaceChildren(...rows.map(({ row }) => row));
  void nameFamous(rows, "./", node);
  byId("end").hidden = false;
  status.show("");
}

/** Draws the moves of the position with their shares of all games. */
function list(): void {
  const sum = available.reduce((sum, { games }) => sum + games, 0);
  const hadFocus = byId("moves").contains(document.activeElement);
  const rows = available.map(({ step, games }) => {
    const button = make(
      "button",
      { "data-testid": "choice", "data-uci": uci(step.move) },
      make("span", "san", step.san),
    );
    button.append(
      make("span", "games", games.toLocaleString("en")),
      make("span", "games", percent(games, sum)),
    );
    bindMove(button, button, step, {
      play,
      show: (step) => board.preview(step, state.node.position),
    });
    return make("li", {}, button);
  });
  byId("moves").replaceChildren(...rows);
  // The focus moves to the new list.
  if (hadFocus) focusMove("moves", 1);
}

const back = () => state.node.parent && state.go(state.node.parent);
const restart = () => state.enter(new Game());

state.on(({ node }) => {
  if (!node) return;
  disable(byId("back"), !state.node.parent, byId("flip"));
  disable(byId("new"), !state.node.parent, byId("flip"));
  byId("line").textContent =
    path(state.node)
      .slice(1)
      .map((node, at) => moveText(node, at === 0))
      .join(" ") || "A new game.";
  showOpening(state);
  writeLinks(state);
  void ask();
});

const flip = () => void board.flip();
bindClicks({
  back,
  new: restart,
  flip,
  "end-back": back,
  "end-new": restart,
});

bindPreviewEnd(byId("moves"), () => board.preview());
status.followLinks();

bindKeys({
  ArrowLeft: () => void back(),
  n: restart,
  f: flip,
  ...moveKeys("moves"),
});
