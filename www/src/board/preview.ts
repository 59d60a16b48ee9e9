/** A small board that shows a position near the pointer or the focus. */
import { Chessground } from "@lichess-org/chessground";
import type { Api } from "@lichess-org/chessground/api";
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import { makeBoardFen } from "chessops/fen";
import { make } from "../shell/dom";
import { type Step, squares } from "../game/game";

/** The small board, created when it is first shown. */
export class Preview {
  #box: HTMLElement | undefined;
  #ground: Api | undefined;

  /** `orientation` returns the side at the bottom. */
  constructor(private readonly orientation: () => "white" | "black") {}

  /** Shows the position after a step, or hides the board if there is no element. */
  readonly show = (near: Element | undefined, step?: Step, before?: Position): void => {
    if (!near || !step || !before) {
      if (this.#box) this.#box.hidden = true;
      return;
    }
    const box = (this.#box ??= this.#make());
    box.hidden = false;
    const at = near.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = box;
    const below = at.bottom + 8 + height <= innerHeight;
    const x = Math.max(8, Math.min(at.left, innerWidth - width - 8));
    const y = below ? at.bottom + 8 : Math.max(8, at.top - height - 8);
    box.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    this.#ground?.set({
      fen: makeBoardFen(step.position.board),
      orientation: this.orientation(),
      lastMove: squares(before, step.move) as Key[],
      check: step.position.isCheck(),
      turnColor: step.position.turn,
    });
  };

  #make(): HTMLElement {
    const ground = make("div", { className: "cg-wrap" });
    const box = make("div", { className: "preview", "aria-hidden": "true", "data-testid": "preview" }, ground);
    document.body.append(box);
    this.#ground = Chessground(ground, { viewOnly: true, coordinates: false, animation: { enabled: false }, drawable: { enabled: false } });
    return box;
  }
}

/** Shows a preview while the mouse is over `target` or `button` has a visible focus. */
export function bindPreview(target: HTMLElement, button: HTMLElement, show: (near?: HTMLElement) => void): void {
  target.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(target));
  target.addEventListener("pointerleave", () => show());
  button.addEventListener("focus", () => button.matches(":focus-visible") && show(target));
  button.addEventListener("blur", () => show());
}
