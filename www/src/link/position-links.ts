/** The address bar of pages that show a position. */
import { followAddress, writeAddress } from "./address-bar";
import { byId } from "../shell/dom";
import { InputError } from "../text/input-error";
import { Game } from "../game/game";
import { formatLink, parseLink } from "./link";
import type { State } from "../state/state";

/** Shows the position of the address. If the address is invalid, shows the starting position and the message. */
export function followLinks(
  state: State,
  showMessage: (error: string) => void,
): void {
  let latest = 0;
  followAddress(async (fragment) => {
    const asked = ++latest;
    const none = () =>
      Promise.reject(new InputError("This link is one of the analysis board."));
    try {
      const { game, node } = await parseLink(fragment, {
        famous: none,
        lichess: none,
      });
      // The address has changed during the lookup.
      if (asked !== latest) return;
      state.enter(game, node);
    } catch (error) {
      if (asked !== latest) return;
      if (!(error instanceof InputError)) throw error;
      state.enter(new Game());
      showMessage(error.message);
    }
  });
}

/** Writes the position to the address, and to the link to the analysis board. */
export function writeLinks(state: State): void {
  const fragment = formatLink(state.game, state.node);
  writeAddress(fragment);
  linkBoard(fragment);
}

/** Writes a position to the link to the analysis board. */
export function linkBoard(fragment: string): void {
  byId<HTMLAnchorElement>("analyse").href = `./${fragment && `#${fragment}`}`;
}
