/** The form that starts a game, and the list of its moves. */
import type { Color } from "chessops/types";
import { byId, showFieldError, make, redraw } from "../shell/dom";
import { InputError } from "../text/words";
import { positionOf } from "../game/fen";
import { LEVELS, levelName, type Terms } from "./terms";
import { moveNumber, type Node, path } from "../game/game";

const form = byId<HTMLFormElement>("setup");
const level = byId<HTMLSelectElement>("level");
const fen = byId<HTMLInputElement>("fen");
const errorText = byId("fen-error");

/** Whether the user has chosen a colour. Until then it is the side to move. */
let isChosen = false;

/** The level at the first visit. */
const FIRST = 1200;

/** Fills the form with the previous choices. */
export function fillSetup(terms: Terms | undefined, start: string): void {
  level.replaceChildren(
    ...LEVELS.map(
      ([elo], index) =>
        new Option(
          levelName(elo),
          String(index),
          false,
          elo === (terms ? terms.elo : FIRST),
        ),
    ),
  );
  fen.value = start;
  check();
}

/** Returns the position of the form; `undefined` if it is the standard position or invalid. Shows the error of an invalid FEN. */
function check(): string | undefined {
  const text = fen.value.replaceAll("_", " ").trim();
  showFieldError(fen, errorText, "");
  if (!text) {
    suggest("white");
    return undefined;
  }
  try {
    suggest(positionOf(text).turn);
    return text;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    showFieldError(fen, errorText, error.message);
    return undefined;
  }
}

function suggest(side: Color): void {
  const choice = form.querySelector<HTMLInputElement>(
    `[name=side][value=${side}]`,
  );
  if (choice && !isChosen) choice.checked = true;
}

/** Calls `start` with the chosen terms, and `show` with the position while the form is edited. */
export function bindSetup(
  start: (terms: Terms) => void,
  show: (fen: string | undefined) => void,
): void {
  fen.addEventListener("input", () => show(check()));
  form.addEventListener(
    "change",
    ({ target }) =>
      (isChosen ||=
        target instanceof HTMLInputElement && target.name === "side"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const position = check();
    if (errorText.textContent) return fen.focus();
    const side = new FormData(form).get("side");
    start({
      side:
        side === "white" || side === "black"
          ? side
          : Math.random() < 0.5
            ? "white"
            : "black",
      elo: LEVELS[Number(level.value)]?.[0],
      ...(position === undefined ? {} : { fen: position }),
    });
  });
}

const sheet = byId("sheet");
const shownNodes = new WeakMap<Element, Node>();

/** Calls `go` with the node of a clicked move. The rest of a row is its first move. */
export function bindSheet(go: (node: Node) => void): void {
  sheet.addEventListener("click", ({ target }) => {
    const place = target instanceof Element && target.closest("button, li");
    const node = place ? shownNodes.get(place) : undefined;
    if (node) go(node);
  });
}

/** Draws the moves up to `last` and marks the move that is shown. */
export function drawSheet(last: Node, shown: Node): void {
  const items: HTMLLIElement[] = [];
  for (const node of path(last).slice(1)) {
    const { position } = node.parent ?? node;
    const button = make("button", {}, node.san);
    if (node === shown) button.setAttribute("aria-current", "true");
    shownNodes.set(button, node);
    if (position.turn === "white" || items.length === 0) {
      items.push(make("li", {}, make("span", {}, moveNumber(position))));
      shownNodes.set(items.at(-1) ?? button, node);
    }
    const item = items.at(-1);
    // If Black begins, the first row has no move of White.
    if (
      position.turn === "black" &&
      items.length === 1 &&
      item?.childElementCount === 1
    )
      item.append(make("span", {}, ""));
    item?.append(button);
  }
  redraw(sheet, ...items);
  const current = sheet.querySelector<HTMLElement>("[aria-current]");
  if (current)
    sheet.scrollTop =
      current.offsetTop -
      sheet.offsetTop -
      (sheet.clientHeight - current.offsetHeight) / 2;
}
