// The board: squares, sliding pieces, marks of the last move, and an arrow for the best move.

import { draw, type Drawing } from "../elements/dom.js";
import { endsOf, type Ply } from "./line.js";
import drawings from "./pieces.json" with { type: "json" };

/** Pieces by the letters of FEN, by Colin M. L. Burnett ("cburnett"), GPL-2.0-or-later, from chessground: 45 units wide. */
const PIECES = drawings as unknown as Readonly<Record<string, Drawing>>;

/** Side of a square, in the units of the pieces. */
const SIDE = 45;

interface Piece {
  letter: string;
  element: SVGElement;
}

export class Board {
  readonly element: SVGElement;
  readonly #marks = draw(["g", {}]);
  readonly #pieces = draw(["g", {}]);
  readonly #arrow = draw(["g", {}]);
  readonly #names = draw(["g", { class: "coordinates" }]);
  #placed = new Map<number, Piece>();
  #isFlipped = false;

  constructor() {
    const size = 8 * SIDE;
    // The dark squares.
    const dark = Array.from(
      { length: 32 },
      (_, n) =>
        `M${((n % 4) * 2 + ((n >> 2) % 2 ? 0 : 1)) * SIDE} ${(n >> 2) * SIDE}h45v45h-45z`,
    ).join("");
    this.element = draw([
      "svg",
      {
        viewBox: `0 0 ${size} ${size}`,
        part: "board",
        class: "squares",
        role: "img",
      },
    ]);
    this.element.append(
      draw([
        "rect",
        { width: String(size), height: String(size), class: "light" },
      ]),
      draw(["path", { d: dark, class: "dark" }]),
      ...[this.#marks, this.#names, this.#pieces, this.#arrow],
    );
    this.#drawCoordinates();
  }

  /** Whether Black is at the bottom. */
  set isFlipped(isFlipped: boolean) {
    if (this.#isFlipped === isFlipped) return;
    this.#isFlipped = isFlipped;
    this.#drawCoordinates();
  }

  /** Shows a position, and its best move in UCI. */
  show(ply: Ply, best: string | undefined): void {
    this.#place(ply);
    const { squares, check } = ply;
    const mark = (square: number, name: string) => {
      const [x, y] = this.#corner(square);
      return draw([
        "rect",
        { x: String(x), y: String(y), width: "45", height: "45", class: name },
      ]);
    };
    this.#marks.replaceChildren(
      ...squares.map((square) => mark(square, "last")),
      ...(check === undefined ? [] : [mark(check, "check")]),
    );
    this.#arrow.replaceChildren(
      ...(best === undefined ? [] : this.#arrowOf(best)),
    );
    this.element.setAttribute("aria-label", describe(ply.fen));
  }

  /** Places the pieces. A piece of the previous position slides to its new square. */
  #place({ fen }: Ply): void {
    const next = new Map<number, Piece>();
    const wanted = piecesOf(fen);
    const left = this.#placed;
    for (const [square, letter] of wanted) {
      const piece = left.get(square);
      if (piece?.letter !== letter) continue;
      next.set(square, piece);
      left.delete(square);
    }
    for (const [square, letter] of wanted) {
      if (next.has(square)) continue;
      const from = [...left].find(([, piece]) => piece.letter === letter)?.[0];
      const piece = from === undefined ? undefined : left.get(from);
      if (from !== undefined) left.delete(from);
      next.set(square, piece ?? this.#add(letter));
    }
    for (const { element } of left.values()) element.remove();
    this.#placed = next;
    for (const [square, { element }] of next) {
      const [x, y] = this.#corner(square);
      element.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  #add(letter: string): Piece {
    const drawing = PIECES[letter];
    const element = draw([
      "g",
      { class: "man" },
      ...(drawing ? [drawing] : []),
    ]);
    this.#pieces.append(element);
    return { letter, element };
  }

  #corner(square: number): [x: number, y: number] {
    const [file, rank] = [square & 7, square >> 3];
    return this.#isFlipped
      ? [(7 - file) * SIDE, rank * SIDE]
      : [file * SIDE, (7 - rank) * SIDE];
  }

  #arrowOf(uci: string): SVGElement[] {
    const [from, to] = endsOf(uci);
    const [[ax, ay], [bx, by]] = [this.#corner(from), this.#corner(to)];
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

  #drawCoordinates(): void {
    const name = (text: string, x: number, y: number, isDark: boolean) => {
      const element = draw([
        "text",
        { x: String(x), y: String(y), class: isDark ? "on-dark" : "on-light" },
      ]);
      element.textContent = text;
      return element;
    };
    const names = Array.from({ length: 8 }, (_, n) => {
      const at = this.#isFlipped ? 7 - n : n;
      return [
        name("abcdefgh"[at] ?? "", n * SIDE + 2, 358, n % 2 === 0),
        name(String(at + 1), 352.5, (7 - n) * SIDE + 10, n % 2 === 1),
      ];
    });
    this.#names.replaceChildren(...names.flat());
  }
}

/** Returns the pieces of a FEN by square. */
function piecesOf(fen: string): Map<number, string> {
  const pieces = new Map<number, string>();
  (fen.split(" ")[0] ?? "").split("/").forEach((row, n) => {
    let square = 8 * (7 - n);
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") square += Number(letter);
      else pieces.set(square++, letter);
    }
  });
  return pieces;
}

const NAMES: readonly (readonly [string, string])[] = [
  ["K", "king"],
  ["Q", "queen"],
  ["R", "rook"],
  ["B", "bishop"],
  ["N", "knight"],
  ["P", "pawn"],
];

/** Describes a position: "White: king e1, rook a1 h1 …; Black: …; White to move" */
function describe(fen: string): string {
  const placed = [...piecesOf(fen)];
  const side = (isWhite: boolean) =>
    NAMES.flatMap(([letter, name]) => {
      const squares = placed
        .filter(
          ([, piece]) => piece === (isWhite ? letter : letter.toLowerCase()),
        )
        .map(([square]) => `${"abcdefgh"[square & 7]}${(square >> 3) + 1}`);
      return squares.length === 0 ? [] : [`${name} ${squares.join(" ")}`];
    }).join(", ");
  return `White: ${side(true)}; Black: ${side(false)}; ${fen.split(" ")[1] === "b" ? "Black" : "White"} to move`;
}
