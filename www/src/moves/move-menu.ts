/** The menu of a move in the list: changes of the variations, and copies. Loaded when it is first opened. */
import { moveNumber, type Node, variationOf } from "../game/game";
import { pgnTo } from "../game/write-pgn";
import { notice } from "../games/notice";
import { closeDone, copied, showDialog } from "../shell/dialog";
import { makeButton } from "../shell/dom";
import { focusMove } from "../shell/page";
import type { State } from "../state/state";

const ID = "move-menu";

/** Shows the menu next to the pointer. */
export function showMoveMenu(
  state: State,
  node: Node,
  { clientX, clientY }: MouseEvent,
): void {
  // Some browsers report a long press twice.
  if (!node.parent || document.querySelector("dialog:modal")) return;
  const action = (id: string, label: string, does: () => unknown) =>
    makeButton(`${ID}-${id}`, () => (closeDone(dialog), does()), label);
  const copying = async (what: string, text: string) =>
    notice(await copied(what, text));
  const first = variationOf(node);
  const isNested = first?.parent && variationOf(first.parent);
  const dialog = showDialog(
    ID,
    `${moveNumber(node.parent.position)} ${node.san}`,
    [
      ...(isNested
        ? [
            action("first", "Make it the first choice", () =>
              state.promote(node),
            ),
          ]
        : []),
      ...(first
        ? [
            action("main", "Make it the main line", () => {
              while (variationOf(node)) state.promote(node);
            }),
          ]
        : []),
      action("remove", "Delete from here", () => state.remove(node)),
      action("pgn", "Copy the PGN up to here", () =>
        copying("PGN", pgnTo(state.game, node)),
      ),
      action("fen", "Copy the FEN", () => copying("FEN", node.fen)),
    ],
  );
  dialog.id = ID;
  dialog.classList.add("menu");
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as 1 | -1 | undefined;
    if (!by) return;
    event.preventDefault();
    focusMove(ID, by);
  });
  const { width, height } = dialog.getBoundingClientRect();
  dialog.style.left = `${Math.min(clientX, innerWidth - width - 8)}px`;
  dialog.style.top = `${Math.min(clientY, innerHeight - height - 8)}px`;
}
