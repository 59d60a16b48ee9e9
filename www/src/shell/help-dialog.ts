/** The help dialog with the list of keys. */
import { showDialog } from "./dialog";
import { make } from "./dom";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["← →", "one move back, one forward"],
  ["Home End", "first and last position"],
  ["↑ ↓", "choose the move where several go on, else first and last position"],
  ["Shift+← Shift+→", "leave a variation, enter one"],
  ["Space", "play the best move"],
  ["i m b", "next inaccuracy, mistake, blunder; with Shift the one before"],
  ["f", "flip the board"],
  ["Enter", "type a move, such as Nf3, O-O or e7e8q"],
  ["o", "open a game or a position"],
  ["g", "list the games that you opened"],
  ["c", "copy the FEN"],
  ["p", "copy the PGN"],
  ["?", "this list"],
];

/** Shows the dialog. */
export function showHelp(): void {
  const row = ([keys, does]: readonly [string, string]) => {
    const caps = keys.split(" ").flatMap((key) => [key.split("+").flatMap((part, index) => [...(index > 0 ? ["+"] : []), make("kbd", {}, part)]), [" "]]).flat();
    return make("div", {}, make("dt", {}, ...caps), make("dd", {}, does));
  };
  const paragraph = (text: string, className = "") => make("p", { className }, text);
  showDialog(
    "help-dialog",
    "How to use this board",
    paragraph("Play moves for both sides, pick a famous game, or open your own. Evaluations of the database were computed beforehand and are only looked up in plain files: the deepest evaluation comes first, scores are from White’s point of view."),
    make("dl", { className: "keys" }, ...KEYS.map(row)),
    paragraph("Hover over a move of a line, or focus it, to see its position on a small board; click it to play the line up to there. Scores in italics are not the database’s own of that position: they come from the line that led there, from the PGN, or from the engine, which looks at what the database does not have; the settings turn it off."),
    paragraph("Free software, GPL-3.0-or-later. Board and rules: chessground and chessops by Lichess; pieces by Colin M. L. Burnett.", "licence"),
  );
}
