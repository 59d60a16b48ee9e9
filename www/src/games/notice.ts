/** The message below the moves, with the list of games that could not be opened. */
import { byId, make } from "../shell/dom";
import type { Refused } from "../pgn/read-text";

/** Maximum number of games that are listed. */
const MAX_LISTED = 200;

/** A button of a message. */
export interface Action {
  label: string;
  does(): void;
}

/** Shows a message with a button, and the games that could not be opened. Hides the line if there is neither message nor game. */
export function notice(remark: string, refused: readonly Refused[] = [], action?: Action): void {
  const element = byId("notice");
  const items = refused.slice(0, MAX_LISTED).map(({ index, name, reason }) => make("li", {}, `Game ${index}${name && ` (${name})`}: ${reason}`));
  if (refused.length > MAX_LISTED) items.push(make("li", {}, `and ${refused.length - MAX_LISTED} more.`));
  const count = refused.length === 1 ? "One game could not be opened" : `${refused.length.toLocaleString("en")} games could not be opened`;
  const details = items.length > 0 ? [make("details", { "data-testid": "refused", open: refused.length <= 3 }, make("summary", {}, count), make("ul", {}, ...items))] : [];
  const buttons = action ? [button(action)] : [];
  element.replaceChildren(...(remark ? [make("span", {}, remark)] : []), ...buttons, ...details);
  element.hidden = remark === "" && refused.length === 0;
}

function button({ label, does }: Action): HTMLElement {
  const element = make("button", { type: "button", "data-testid": "notice-action" }, label);
  element.addEventListener("click", does);
  return element;
}
