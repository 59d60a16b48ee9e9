/** The dialogs of the settings and of the help. Loaded when they are first opened. */
import { showDialog } from "../shell/dialog";
import { make } from "../shell/dom";
import { hasStockfish } from "../loading/stockfish";
import { change, load, PIECES, type Settings } from "./settings";

export function showSettings(
  set: (settings: Partial<Pick<Settings, "engine" | "stockfish">>) => void,
  toggleEvaluations: () => void,
): void {
  const settings = load();
  const field = (label: string, ...content: HTMLElement[]) =>
    make("label", "field", make("span", {}, label), ...content);
  const box = (id: string, checked: boolean, does: (is: boolean) => void) => {
    const input = make("input", {
      type: "checkbox",
      checked,
      "data-testid": id,
    });
    input.addEventListener("change", () => does(input.checked));
    return input;
  };
  const pieces = make(
    "select",
    { "data-testid": "set-pieces" },
    ...Object.entries(PIECES).map(([value, name]) =>
      make("option", { value }, name),
    ),
  );
  pieces.value = settings.pieces;
  pieces.addEventListener("change", () =>
    change({ pieces: pieces.value as Settings["pieces"] }),
  );
  showDialog("settings", "Settings", [
    field("Pieces", pieces),
    field(
      "Evaluations and arrows",
      box("set-evaluations", settings.evaluations, toggleEvaluations),
    ),
    field(
      "Engine",
      box("set-engine", settings.engine, (engine) => set({ engine })),
    ),
    ...(hasStockfish()
      ? [
          field(
            "Stockfish judges games (1.1 MB, loaded once)",
            box("set-stockfish", settings.stockfish, (stockfish) =>
              set({ stockfish }),
            ),
          ),
        ]
      : []),
    field(
      "Details: depth, sources, requests",
      box("set-details", settings.details, (details) => change({ details })),
    ),
  ]);
}

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["← →", "previous move, next move"],
  ["wheel swipe", "over the board: next and previous move"],
  ["Home End", "first and last position"],
  [
    "↑ ↓",
    "select one of several next moves; otherwise first and last position",
  ],
  ["Shift+← Shift+→", "leave or enter a variation"],
  ["Ctrl+Z Ctrl+Y", "undo the last change of a variation, and redo it"],
  ["Shift+F10", "menu of a move in the list: promote, delete, copy"],
  ["Space", "play the best move"],
  ["i m b", "next inaccuracy, mistake or blunder; with Shift the previous one"],
  ["s", "set up a position"],
  ["h", "hide or show evaluations and arrows"],
  ["t", "show the opening explorer"],
  ["1 to 9", "play a move of the opening explorer"],
  ["f", "flip the board"],
  ["Enter", "type a move, such as Nf3, O-O or e7e8q"],
  ["o", "open a game or a position"],
  ["g", "list the games that you opened"],
  ["c", "copy the FEN"],
  ["p", "copy the PGN"],
  ["?", "this list"],
];

export function showHelp(): void {
  const row = ([keys, does]: readonly [string, string]) => {
    const caps = keys
      .split(" ")
      .flatMap((key) => [
        key
          .split("+")
          .flatMap((part, index) => [
            ...(index > 0 ? ["+"] : []),
            make("kbd", {}, part),
          ]),
        [" "],
      ])
      .flat();
    return make("div", {}, make("dt", {}, ...caps), make("dd", {}, does));
  };
  const paragraph = (text: string, className = "") =>
    make("p", { className }, text);
  showDialog("help", "How to use this board", [
    paragraph(
      "Play moves for both sides, choose a famous game, or open your own game. Evaluations are looked up in a database of static files. The deepest evaluation is shown first. Scores are from White’s point of view.",
    ),
    make("dl", "keys", ...KEYS.map(row)),
    paragraph(
      "Point at a move of a line to see it on the board; click the move to play the line up to it. Scores in italics are not in the database: they come from the line of an earlier position, from the PGN, or from the engine, which searches positions that the database does not have. You can turn the engine off in the settings.",
    ),
    paragraph(
      "□ is an only move: every other legal move loses at least 0.2 winning chances, as a mistake does. ! is a great move: the only move that keeps a win (winning chances of at least 0.5, 3 pawns) or a draw. Both need a search with two lines that exceeds these bounds by 0.1; a move without that evidence, a move out of check, a move of an attacked piece and a capture that does not give more than it takes have no mark.",
    ),
    paragraph(
      "Accuracy follows the formula of Lichess: each move has an accuracy by the winning chances that it loses, and moves in sharp positions and bad moves count more. A phase has the formula of the game.",
    ),
    make(
      "p",
      {},
      "More: ",
      make("a", { href: "./docs/" }, "the documentation"),
      ", with guides for players, web developers and operators.",
    ),
    paragraph(
      "Free software, GPL-3.0-or-later. Board and rules: chessground and chessops by Lichess; Stockfish by its authors, compiled by Nathan Rugg (GPL-3.0); pieces by Colin M. L. Burnett and Armando Hernandez Marroquin (“Merida”; both GPL-2.0 or later).",
      "licence",
    ),
  ]);
}
