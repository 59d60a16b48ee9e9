/** Finds the novelty of the game in the book, on request. */
import { BookClient, explain } from "../book/client";
import type { DatabaseClient } from "../database/client";
import { path } from "../game/game";
import { loadOpenings, openingName } from "../game/opening-names";
import { bookUrl } from "../settings/settings";
import type { State } from "../state/state";
import { lastInBook, MAX_PLIES, noveltyText } from "./novelty";

let book: BookClient | undefined;

/** Looks up the main line in the book, marks the novelty, and returns its description. Returns `undefined` if another game is on the board. */
export async function findNovelty(
  state: State,
  database: DatabaseClient,
): Promise<string | undefined> {
  book ??= new BookClient(bookUrl(), database);
  const { game } = state;
  const line = game.mainline();
  try {
    const fens = [...new Set(line.slice(0, MAX_PLIES).map(({ fen }) => fen))];
    const [{ answers }] = await Promise.all([
      book.movesMany(fens, new AbortController().signal),
      loadOpenings().catch(() => {}),
    ]);
    if (state.game !== game) return undefined;
    if (answers.length < fens.length)
      return "Some positions could not be looked up in the book.";
    const found = lastInBook(line, new Map(answers));
    state.setNovelty(found?.novelty);
    return noveltyText(found, found && openingName(path(found.last))?.name);
  } catch (error) {
    return explain(error).title;
  }
}
