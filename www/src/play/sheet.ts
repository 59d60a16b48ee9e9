/** The list of moves. A click shows the position after a move. */
import { byId, make, redraw } from "../shell/dom";
import { moveNumber, type Node, path } from "../game/game";

const root = byId("sheet");
const nodes = new WeakMap<Element, Node>();

/** Calls `go` with the node of a clicked move. */
export function bind(go: (node: Node) => void): void {
  root.addEventListener("click", ({ target }) => {
    const node = target instanceof Element ? nodes.get(target) : undefined;
    if (node) go(node);
  });
}

/** Draws the moves up to `last` and marks the move that is shown. */
export function draw(last: Node, shown: Node): void {
  const items: HTMLLIElement[] = [];
  for (const node of path(last).slice(1)) {
    const { position } = node.parent ?? node;
    const button = make("button", { type: "button" }, node.san);
    if (node === shown) button.setAttribute("aria-current", "true");
    nodes.set(button, node);
    if (position.turn === "white" || items.length === 0)
      items.push(make("li", {}, make("span", {}, moveNumber(position))));
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
  redraw(root, ...items);
  const current = root.querySelector<HTMLElement>("[aria-current]");
  if (current)
    root.scrollTop =
      current.offsetTop -
      root.offsetTop -
      (root.clientHeight - current.offsetHeight) / 2;
}
