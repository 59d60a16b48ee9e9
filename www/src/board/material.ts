/** The material that a side has more than the other side. */
import type { Position } from "chessops/chess";
import type { Color, Role } from "chessops/types";
import { opposite } from "chessops/util";
import { plural } from "../text/units";

/** Values in pawns, and signs. */
const PIECES: readonly (readonly [role: Role, value: number, sign: string])[] =
  [
    ["queen", 9, "♛"],
    ["rook", 5, "♜"],
    ["bishop", 3, "♝"],
    ["knight", 3, "♞"],
    ["pawn", 1, "♟"],
  ];

export interface Material {
  /** Signs of the pieces that the side has more, with the lead in pawns: "♞♟+2"; empty without such pieces. */
  text: string;
  /** The same in words. */
  words: string;
}

/** Returns the pieces that a side has more than the other side. The lead is shown for the side with the lead. */
export function materialOf(
  { board }: Pick<Position, "board">,
  side: Color,
): Material {
  const more = PIECES.map(([role, value, sign]) => {
    const count = (color: Color) => board.pieces(color, role).size();
    const difference = count(side) - count(opposite(side));
    return { role, value, sign, difference };
  });
  const lead = more.reduce(
    (sum, { value, difference }) => sum + value * difference,
    0,
  );
  const extra = more.filter(({ difference }) => difference > 0);
  const signs = extra
    .map(({ sign, difference }) => sign.repeat(difference))
    .join("");
  const words = extra
    .map(({ role, difference }) => plural(difference, role))
    .join(", ");
  return {
    text: `${signs}${lead > 0 ? `+${lead}` : ""}`,
    words: words && `${words} more`,
  };
}

/** Shows the material of a side in an element. */
export function drawMaterial(
  slot: HTMLElement,
  position: Pick<Position, "board">,
  side: Color,
): void {
  const { text, words } = materialOf(position, side);
  if (slot.textContent === text) return;
  slot.textContent = text;
  slot.title = slot.ariaLabel = words;
  slot.hidden = text === "";
}
