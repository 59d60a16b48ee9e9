// The board: squares, pieces that slide to their places, the last move, the best move as an arrow.

import { draw } from "./dom.js";
import type { Ply } from "./line.js";
import { PIECES } from "./pieces.js";

/** Units of a square's side, as the pieces are drawn. */
const SIDE = 45;

interface Man {
  letter: string;
  element: SVGElement;
}

export class Board {
  readonly element: SVGElement;
  readonly #marks = draw(["g", {}]);
  readonly #men = draw(["g", {}]);
  readonly #arrow = draw(["g", {}]);
  readonly #names = draw(["g", { class: "coordinates" }]);
  #standing = new Map<number, Man>();
  #isFlipped = false;

  constructor() {
    const size = 8 * SIDE;
    // A checkered path: the dark squares.
    const dark = Array.from({ length: 32 }, (_, n) => `M${((n % 4) * 2 + ((n >> 2) % 2 ? 0 : 1)) * SIDE} ${(n >> 2) * SIDE}h45v45h-45z`).join("");
    this.element = draw(["svg", { viewBox: `0 0 ${size} ${size}`, part: "board", class: "squares", role: "img" }]);
    this.element.append(
      draw(["rect", { width: String(size), height: String(size), class: "light" }]),
      draw(["path", { d: dark, class: "dark" }]),
      ...[this.#marks, this.#names, this.#men, this.#arrow],
    );
    this.#name();
  }

  /** Whether Black is below. */
  set isFlipped(isFlipped: boolean) {
    if (this.#isFlipped === isFlipped) return;
    this.#isFlipped = isFlipped;
    this.#name();
  }

  /** Shows a position, and the best move in UCI if there is one to be told. */
  show(ply: Ply, best: string | undefined): void {
    this.#place(ply);
    const { squares, check } = ply;
    const mark = (square: number, name: string) => {
      const [x, y] = this.#corner(square);
      return draw(["rect", { x: String(x), y: String(y), width: "45", height: "45", class: name }]);
    };
    this.#marks.replaceChildren(...squares.map((square) => mark(square, "last")), ...(check === undefined ? [] : [mark(check, "check")]));
    this.#arrow.replaceChildren(...(best === undefined ? [] : this.#arrowOf(best)));
    this.element.setAttribute("aria-label", describe(ply.fen));
  }

  /** Puts every man where he stands now. One that is there already slides; others come and go. */
  #place({ fen }: Ply): void {
    const next = new Map<number, Man>();
    const wanted = men(fen);
    const left = this.#standing;
    for (const [square, letter] of wanted) {
      const man = left.get(square);
      if (man?.letter !== letter) continue;
      next.set(square, man);
      left.delete(square);
    }
    for (const [square, letter] of wanted) {
      if (next.has(square)) continue;
      const from = [...left].find(([, man]) => man.letter === letter)?.[0];
      const man = from === undefined ? undefined : left.get(from);
      if (from !== undefined) left.delete(from);
      next.set(square, man ?? this.#recruit(letter));
    }
    for (const { element } of left.values()) element.remove();
    this.#standing = next;
    for (const [square, { element }] of next) {
      const [x, y] = this.#corner(square);
      element.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  #recruit(letter: string): Man {
    const drawing = PIECES[letter];
    const element = draw(["g", { class: "man" }, ...(drawing ? [drawing] : [])]);
    this.#men.append(element);
    return { letter, element };
  }

  #corner(square: number): [x: number, y: number] {
    const [file, rank] = [square & 7, square >> 3];
    return this.#isFlipped ? [(7 - file) * SIDE, rank * SIDE] : [file * SIDE, (7 - rank) * SIDE];
  }

  #arrowOf(uci: string): SVGElement[] {
    const square = (at: number) => uci.charCodeAt(at) - 97 + 8 * (uci.charCodeAt(at + 1) - 49);
    const [[ax, ay], [bx, by]] = [this.#corner(square(0)), this.#corner(square(2))];
    const [dx, dy] = [bx - ax, by - ay];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const [fx, fy] = [ax + 22.5 + ux * 12, ay + 22.5 + uy * 12];
    const [tx, ty] = [bx + 22.5 - ux * 4, by + 22.5 - uy * 4];
    const [nx, ny] = [tx - ux * 16, ty - uy * 16];
    const point = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const d = `M${point(fx - uy * 3.5, fy + ux * 3.5)}L${point(nx - uy * 3.5, ny + ux * 3.5)}L${point(nx - uy * 10, ny + ux * 10)}L${point(tx, ty)}L${point(nx + uy * 10, ny - ux * 10)}L${point(nx + uy * 3.5, ny - ux * 3.5)}L${point(fx + uy * 3.5, fy - ux * 3.5)}z`;
    return [draw(["path", { d, class: "arrow" }])];
  }

  #name(): void {
    const name = (text: string, x: number, y: number, isDark: boolean) => {
      const element = draw(["text", { x: String(x), y: String(y), class: isDark ? "on-dark" : "on-light" }]);
      element.textContent = text;
      return element;
    };
    const names = Array.from({ length: 8 }, (_, n) => {
      const at = this.#isFlipped ? 7 - n : n;
      return [name("abcdefgh"[at] ?? "", n * SIDE + 2, 358, n % 2 === 0), name(String(at + 1), 352.5, (7 - n) * SIDE + 10, n % 2 === 1)];
    });
    this.#names.replaceChildren(...names.flat());
  }
}

/** The men of a FEN by their squares. */
function men(fen: string): Map<number, string> {
  const men = new Map<number, string>();
  (fen.split(" ")[0] ?? "").split("/").forEach((row, n) => {
    let square = 8 * (7 - n);
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") square += Number(letter);
      else men.set(square++, letter);
    }
  });
  return men;
}

const NAMES: readonly (readonly [string, string])[] = [["K", "king"], ["Q", "queen"], ["R", "rook"], ["B", "bishop"], ["N", "knight"], ["P", "pawn"]];

/** "White: king e1, rook a1 h1 …; Black: …; White to move" */
function describe(fen: string): string {
  const standing = [...men(fen)];
  const side = (isWhite: boolean) =>
    NAMES.flatMap(([letter, name]) => {
      const squares = standing.filter(([, man]) => man === (isWhite ? letter : letter.toLowerCase())).map(([square]) => `${"abcdefgh"[square & 7]}${(square >> 3) + 1}`);
      return squares.length === 0 ? [] : [`${name} ${squares.join(" ")}`];
    }).join(", ");
  return `White: ${side(true)}; Black: ${side(false)}; ${fen.split(" ")[1] === "b" ? "Black" : "White"} to move`;
}
