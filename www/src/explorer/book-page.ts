/** The set-up that the explorer and My openings have in common: a board, its controls and keys, a book and a database. */
import { BookClient } from "../book/client";
import { Board } from "../board/board";
import { DatabaseClient } from "../database/client";
import type { Step } from "../game/game";
import {
  bindGestures,
  bindTyped,
  navigation,
  updateStepButtons,
} from "../moves/navigation";
import { drawPath, showOpening } from "../moves/openings";
import { applyPieces, bookUrl, manifestUrl } from "../settings/settings";
import { bindClicks, bindTheme, restrictConnections } from "../shell/page";
import { State } from "../state/state";

interface BookPage {
  database: DatabaseClient;
  book: BookClient;
  state: State;
  board: Board;
  /** The keys of the board. */
  keys: Record<string, () => void>;
}

/** Sets the page up. `play` is called with each move of the user. */
export function setUpBookPage(
  play: (step: Pick<Step, "move">) => void,
): BookPage {
  const database = new DatabaseClient(manifestUrl());
  const book = new BookClient(bookUrl(), database);
  restrictConnections(database.url, book.url);
  bindTheme();
  applyPieces();
  const state = new State();
  const board = new Board((move) => play({ move }));
  const { first, previous, next, last } = navigation(state);
  bindGestures({ previous, next });
  const flip = () => void board.flip();
  bindClicks({
    first,
    previous,
    next,
    last,
    flip,
  });
  state.on(({ node }) => {
    if (!node) return;
    board.show(state.node);
    updateStepButtons(state.node);
    drawPath(state);
    showOpening(state);
  });
  const m = bindTyped(state, (_, move) => play({ move }));
  return {
    database,
    book,
    state,
    board,
    keys: {
      ArrowLeft: previous,
      ArrowRight: next,
      Home: first,
      End: last,
      f: flip,
      m,
    },
  };
}
