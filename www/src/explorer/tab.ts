/** The explorer as a panel of the analysis board. It loads when the panel is shown for the first time. */
import { BookClient } from "../book/client";
import { digitKeys } from "../book/move-keys";
import { StatusLine } from "../book/status-line";
import type { DatabaseClient } from "../database/client";
import { whenVisible } from "../loading/visible";
import { bookUrl } from "../settings/data-urls";
import { byId } from "../shell/dom";
import { bindKeys } from "../shell/keyboard";
import type { State } from "../state/state";
import { ExplorerPanel, type PanelPage } from "./panel";

/** Binds the panel. It looks positions up only while it is visible. */
export function bindExplorerTab(
  state: State,
  database: DatabaseClient,
  page: Pick<PanelPage, "play" | "preview">,
): void {
  const root = byId("explorer");
  const panel = new ExplorerPanel(
    state,
    new BookClient(bookUrl(), database),
    new StatusLine(state, root),
    { ...page, boardUrl: "", opensFilters: false },
  );
  let isVisible = false;
  /** FEN of the last position that was looked up. */
  let asked = "";
  const update = () => {
    if (asked === state.node.fen) return;
    asked = isVisible ? state.node.fen : "";
    if (isVisible) void panel.ask();
    else panel.leave();
  };
  whenVisible(root, (shows) => {
    isVisible = shows;
    if (shows) update();
  });
  state.on(({ node }) => node && update());
  const keys = Object.entries(digitKeys("played-moves")).map(
    ([key, play]) => [key, () => isVisible && play()] as const,
  );
  bindKeys(Object.fromEntries(keys));
}
