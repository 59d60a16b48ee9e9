/** The name of the opening above the moves. */
import { byId } from "../shell/dom";
import { path } from "../game/game";
import { loadOpenings, openingName } from "../game/opening-names";
import type { State } from "../state/state";

/** Shows the name if the names are loaded. */
export function showOpening(state: State): void {
  const opening = openingName(path(state.node));
  byId("opening").textContent = opening ? `${opening.eco} ${opening.name}` : "";
}

/** Binds the label. The names are loaded after the first evaluation. */
export function nameOpenings(state: State): void {
  const show = () => showOpening(state);
  let isAsked = false;
  state.on(({ node, known }) => {
    if (node) show();
    if (!known || isAsked) return;
    isAsked = true;
    // The board works without opening names.
    loadOpenings().then(show, () => {});
  });
}
