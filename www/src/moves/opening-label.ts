/** The line above the moves that names the opening. */
import { byId } from "../shell/dom";
import { path } from "../game/game";
import { loadOpenings, openingName } from "../game/opening-names";
import type { State } from "../state/state";

/** Shows the name, as far as names are loaded. */
export function showOpening(state: State): void {
  const opening = openingName(path(state.node));
  byId("opening").textContent = opening ? `${opening.eco} ${opening.name}` : "";
}

/** Binds the line; the names are loaded after the first evaluation, which does not wait for them. */
export function nameOpenings(state: State): void {
  const show = () => showOpening(state);
  let isAsked = false;
  state.on(({ node, known }) => {
    if (node) show();
    if (!known || isAsked) return;
    isAsked = true;
    // Without names the board is as good.
    loadOpenings().then(show, () => {});
  });
}
