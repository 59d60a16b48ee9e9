/** The field for typed moves: what is not a legal move is told in its place. */
import { byId } from "../shell/dom";
import { InputError } from "../text/input-error";
import { moveNumber } from "../game/game";
import { loadPart } from "../loading/page-part";
import type { State } from "../state/state";

/** Binds the field and gives the function that goes to it. */
export function bindTyped(state: State): () => void {
  const field = byId<HTMLInputElement>("move");
  const fault = byId("move-error");
  const tell = (text: string) => {
    fault.textContent = text;
    if (text) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  };
  const reading = () => loadPart(import("../pgn/typed-move"));
  const enter = async () => {
    const text = field.value;
    if (text.trim() === "") return;
    const { node } = state;
    try {
      const { parseMove } = await reading();
      const move = parseMove(node.position, text);
      if (!move) throw new InputError(`${text.trim().slice(0, 12)} is not legal at ${moveNumber(node.position)}`);
      if (field.value === text) field.value = "";
      tell("");
      state.play(node, move);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      tell(error.message);
    }
  };
  field.addEventListener("focus", () => void reading().catch(() => {}));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    // An empty field has no use for them: they step through the game.
    if (field.value === "" && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
      tell("");
      state.go(event.key === "ArrowLeft" ? state.node.parent : state.choice);
    }
    if (event.key === "Enter") void enter();
  });
  field.addEventListener("input", () => tell(""));
  field.addEventListener("blur", () => tell(""));
  return () => field.focus();
}
