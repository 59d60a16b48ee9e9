/** The field for typed moves: what is not a legal move is told in its place. */
import { byId } from "./dom";
import { moveNumber, parseMove } from "./game";
import type { State } from "./state";

/** Binds the field and gives the function that goes to it. */
export function bindTyped(state: State): () => void {
  const field = byId<HTMLInputElement>("move");
  const fault = byId("move-error");
  const tell = (text: string) => {
    fault.textContent = text;
    if (text) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    // An empty field has no use for them: they step through the game.
    if (field.value === "" && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
      tell("");
      state.go(event.key === "ArrowLeft" ? state.node.parent : state.choice);
    }
    if (event.key !== "Enter" || field.value.trim() === "") return;
    const { node } = state;
    const move = parseMove(node.position, field.value);
    if (!move) {
      tell(`${field.value.trim().slice(0, 12)} is not legal at ${moveNumber(node.position)}`);
      return;
    }
    field.value = "";
    tell("");
    state.play(node, move);
  });
  field.addEventListener("input", () => tell(""));
  field.addEventListener("blur", () => tell(""));
  return () => field.focus();
}
