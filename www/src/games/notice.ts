/** The message below the moves, with the list of games that were not opened. */
import { byId, make, makeButton } from "../shell/dom";
import { plural } from "../text/words";
import type { Refused } from "../game/read-pgn";

/** Maximum number of games that are listed. */
const MAX_LISTED = 200;

/** Says how many games were opened, and how many games the menu lists. */
export function openedText(count: number, all: number, stored = count): string {
  const opened =
    count < all
      ? `${count.toLocaleString("en")} of ${plural(all, "game")}`
      : plural(count, "game");
  return `${opened} opened: the menu has ${stored < count ? `the first ${stored}` : "them"}.`;
}

/** A button of a message. */
export interface Action {
  label: string;
  does(): void;
}

/** Shows a message with a button, and the games that were not opened. Hides the line if there is neither message nor game. */
export function notice(
  remark: string,
  refused: readonly Refused[] = [],
  action?: Action,
): void {
  const element = byId("notice");
  const items = refused
    .slice(0, MAX_LISTED)
    .map(({ index, name, reason }) =>
      make("li", {}, `Game ${index}${name && ` (${name})`}: ${reason}`),
    );
  if (refused.length > MAX_LISTED)
    items.push(make("li", {}, `and ${refused.length - MAX_LISTED} more.`));
  const count =
    refused.length === 1
      ? "One game was not opened"
      : `${refused.length.toLocaleString("en")} games were not opened`;
  const details =
    items.length > 0
      ? [
          make(
            "details",
            { "data-testid": "refused", open: refused.length <= 3 },
            make("summary", {}, count),
            make("ul", {}, ...items),
          ),
        ]
      : [];
  const buttons = action
    ? [makeButton("notice-action", () => action.does(), action.label)]
    : [];
  element.replaceChildren(
    ...(remark ? [make("span", {}, remark)] : []),
    ...buttons,
    ...details,
  );
  element.hidden = remark === "" && refused.length === 0;
}

export interface Page {
  /** Shows a message, the games that could not be opened, and a button; an empty message hides the line. */
  notice(message: string, refused?: readonly Refused[], action?: Action): void;
  /** Turns the board so that this side is at the bottom. */
  turn(side: "white" | "black"): void;
}
