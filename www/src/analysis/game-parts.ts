/** The parts of the board that a game, an ending or an unknown position needs. On an empty board they load after the first evaluation. */
import "../style/game-parts.css";
import { EndgameLookups } from "../evaluation/endgame-lookups";
import { EngineSearch } from "../evaluation/engine-search";
import type { LineActions } from "../evaluation/lines";
import type { Lookups } from "../evaluation/lookups";
import { MoveList } from "../moves/move-list";
import { KINDS, JudgmentRow, nextOf } from "../report/judgment";
import { Graph } from "../report/graph";
import { Reporter } from "../report/reporter";
import { endgamePieces, type Settings } from "../settings/settings";
import type { Page } from "../games/notice";
import { Session } from "../games/session";
import type { State } from "../state/state";

export interface GameParts {
  session: Session;
  endgames: EndgameLookups;
  engineSearch: EngineSearch;
  reporter: Reporter;
  /** Goes to the next (1) or previous (-1) bad move whose kind begins with a letter. */
  goToBadMove(letter: string, by: 1 | -1): void;
}

/** Creates the parts. They draw in this order. `tables` is the URL of the index of endgame tables; `isEntered`: the board shows a game already. */
export function createGameParts(
  state: State,
  lookups: Lookups,
  preview: LineActions["preview"],
  tables: URL,
  settings: Settings,
  page: Page,
  isEntered: boolean,
): GameParts {
  const session = new Session(state, page);
  // The list scrolls after the row of the judgment has taken its place.
  new JudgmentRow(state, preview);
  new MoveList(state);
  new Graph(state);
  const engineSearch = new EngineSearch(state, settings);
  const endgames = new EndgameLookups(state, tables, endgamePieces(tables));
  const reporter = new Reporter(
    state,
    lookups,
    endgames,
    session.library,
    settings,
  );
  const goToBadMove: GameParts["goToBadMove"] = (letter, by) => {
    const kind = KINDS.find((kind) => kind.startsWith(letter));
    if (kind) state.go(nextOf(state, kind, by));
  };
  session.start(isEntered);
  return { session, endgames, engineSearch, reporter, goToBadMove };
}
