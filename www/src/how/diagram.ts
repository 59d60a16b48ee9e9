/** A board without controls. */
import { parseFen } from "chessops/fen";
import { make } from "../shell/dom";

export function diagram(fen: string): HTMLElement {
  const board = make("div", {
    className: "diagram cg-wrap",
    role: "img",
    "aria-label": `Position ${fen}`,
  });
  for (const [square, { color, role }] of parseFen(fen).unwrap().board) {
    const piece = document.createElement("piece");
    piece.className = `${color} ${role}`;
    piece.style.transform = `translate(${100 * (square % 8)}%, ${100 * (7 - (square >> 3))}%)`;
    board.append(piece);
  }
  return board;
}
