/** The choice of a piece for a promotion, shown on the target square. */
import type { Color, Role } from "chessops/types";
import { squareFile } from "chessops/util";
import { byId, make, makeButton } from "../shell/dom";

const ROLES: Role[] = ["queen", "knight", "rook", "bishop"];

/** The choice. While it is open, it handles the keys. */
export class Promotion {
  readonly #root = byId("promotion");
  #done: ((role?: Role) => void) | undefined;

  constructor() {
    this.#root.addEventListener("keydown", (event) => {
      const buttons = [...this.#root.querySelectorAll("button")];
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[
        event.key
      ];
      if (by !== undefined)
        buttons
          .at(
            (buttons.indexOf(document.activeElement as HTMLButtonElement) +
              by) %
              buttons.length,
          )
          ?.focus();
      else if (event.key === "Escape") this.#finish();
      else return;
      event.preventDefault();
    });
  }

  /** Asks for a piece. `done` gets no piece if the choice is cancelled. */
  ask(
    turn: Color,
    square: number,
    orientation: Color,
    done: (role?: Role) => void,
  ): void {
    this.#done = done;
    const buttons = ROLES.map((role) =>
      makeButton(
        { title: role, "aria-label": role, "data-testid": `promote-${role}` },
        () => this.#finish(role),
        make("piece" as "span", `${role} ${turn}`),
      ),
    );
    this.#root.replaceChildren(...buttons);
    this.#root.style.left = `${(orientation === "white" ? squareFile(square) : 7 - squareFile(square)) * 12.5}%`;
    this.#root.classList.toggle("below", turn !== orientation);
    this.#root.hidden = false;
    buttons[0]?.focus();
    // The pointer event of the move is not finished yet.
    setTimeout(
      () => document.addEventListener("pointerdown", this.#dismiss),
      0,
    );
  }

  /** Closes the choice without an answer. */
  close(): void {
    if (!this.#done) return;
    document.removeEventListener("pointerdown", this.#dismiss);
    this.#root.hidden = true;
    this.#done = undefined;
  }

  readonly #dismiss = ({ target }: Event): void => {
    if (!(target instanceof Element && this.#root.contains(target)))
      this.#finish();
  };

  #finish(role?: Role): void {
    const done = this.#done;
    this.close();
    done?.(role);
  }
}
