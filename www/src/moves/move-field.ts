/** The field for typed moves, with a message for illegal moves. */
import type { NormalMove } from "chessops/types";
import { byId, showFieldError } from "../shell/dom";
import { InputError } from "../text/input-error";
import { moveNumber, type Node } from "../game/game";
import { loadPart } from "../loading/load-once";
import type { State } from "../state/state";

/** Binds the field and returns the function that focuses it. `play` plays a move from a position. */
export function bindTyped(
  state: State,
  play: (node: Node, move: NormalMove) => void = (node, move) =>
    state.play(node, move),
): () => void {
  const field = byId<HTMLInputElement>("move");
  const errorText = byId("move-error");
  const showMessage = (text: string) => showFieldError(field, errorText, text);
  const reading = () => loadPart(import("../game/read-pgn"));
  const playText = async (text: string) => {
    try {
      const { typedMove } = await reading();
      const { node } = state;
      const move = await typedMove(node.position, text);
      if (!move)
        throw new InputError(
          `${text.trim().slice(0, 12)} is not legal at ${moveNumber(node.position)}`,
        );
      if (field.value === text) field.value = "";
      showMessage("");
      play(node, move);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      showMessage(error.message);
    }
  };
  let played = Promise.resolve();
  // A move is read from the position after the moves that were entered before it.
  const enter = (text: string) => {
    if (text.trim()) played = played.catch(() => {}).then(() => playText(text));
  };
  field.addEventListener("focus", () => void reading().catch(() => {}));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    // In an empty field the arrow keys step through the game.
    if (
      field.value === "" &&
      (event.key === "ArrowLeft" || event.key === "ArrowRight")
    ) {
      event.preventDefault();
      showMessage("");
      state.go(event.key === "ArrowLeft" ? state.node.parent : state.choice);
    }
    if (event.key === "Enter") enter(field.value);
  });
  field.addEventListener("input", () => showMessage(""));
  field.addEventListener("blur", () => showMessage(""));
  return () => field.focus();
}
