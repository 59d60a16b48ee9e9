/** The dialog in which a position is set up. Loaded when it is first opened. */
import { Chessground } from "@lichess-org/chessground";
import type { Key, Piece } from "@lichess-org/chessground/types";
import { makeFen } from "chessops/fen";
import { looksLikeFen, positionOf } from "../game/fen";
import { closeDone, markTyped, showDialog } from "../shell/dialog";
import { make, makeButton, showFieldError } from "../shell/dom";
import { InputError } from "../text/words";

const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"] as const;
const SIDES = ["white", "black"] as const;
const CASTLING = [
  ["K", "White, king side"],
  ["Q", "White, queen side"],
  ["k", "Black, king side"],
  ["q", "Black, queen side"],
] as const;
const [EMPTY, START] = [
  "8/8/8/8/8/8/8/8 w - - 0 1",
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
];

type Tool = Piece | "move" | "remove";

/** Shows the dialog with a position. `use` is called with the FEN of a legal position. */
export function showEditor(
  start: string,
  orientation: "white" | "black",
  use: (fen: string) => void,
): void {
  const board = make("div", "cg-wrap");
  const field = make("input", {
    type: "text",
    spellcheck: false,
    autocomplete: "off",
    "aria-label": "FEN",
    "aria-describedby": "editor-error",
    "data-testid": "editor-fen",
  });
  const errorText = make("p", {
    id: "editor-error",
    className: "error",
    role: "alert",
    "data-testid": "editor-error",
  });
  const submit = make(
    "button",
    { className: "primary", "data-testid": "editor-use" },
    "Use this position",
  );
  const turns = SIDES.map((side) =>
    make("input", {
      type: "radio",
      name: "turn",
      value: side,
      "data-testid": `editor-turn-${side}`,
    }),
  );
  const rights = CASTLING.map(([letter]) =>
    make("input", {
      type: "checkbox",
      value: letter,
      "data-testid": `editor-castling-${letter}`,
    }),
  );

  const tools: [Tool, HTMLElement][] = [];
  const toolButton = (tool: Tool, label: string, ...content: Node[]) => {
    const button = makeButton(
      {
        title: label,
        "aria-label": label,
        "aria-pressed": false,
        "data-testid": `editor-${label.toLowerCase().replaceAll(" ", "-")}`,
      },
      () => choose(tool),
      ...content,
    );
    tools.push([tool, button]);
    return button;
  };
  const palette = (side: (typeof SIDES)[number]) =>
    make(
      "div",
      {
        className: "palette",
        role: "group",
        "aria-label": `Pieces of ${side}`,
      },
      ...ROLES.map((role) => {
        const picture = document.createElement("piece");
        picture.className = `${role} ${side}`;
        return toolButton(
          { role, color: side },
          `${side} ${role}`,
          make("span", "cg-wrap", picture),
        );
      }),
    );
  const hands = make(
    "div",
    "palette",
    toolButton("move", "Move pieces", new Text("Move")),
    toolButton("remove", "Remove pieces", new Text("Remove")),
  );
  const action = (id: string, label: string, does: () => void) =>
    makeButton(`editor-${id}`, does, label);

  const dialog = showDialog(
    "editor",
    "Set up a position",
    [
      make(
        "div",
        "editor",
        make("div", "editor-board", palette("black"), board, palette("white")),
        make(
          "div",
          "editor-fields",
          hands,
          make(
            "fieldset",
            {},
            make("legend", {}, "Side to move"),
            ...turns.map((input, index) =>
              make("label", {}, input, index === 0 ? "White" : "Black"),
            ),
          ),
          make(
            "fieldset",
            {},
            make("legend", {}, "Castling"),
            ...rights.map((input, index) =>
              make("label", {}, input, CASTLING[index]?.[1] ?? ""),
            ),
          ),
          make(
            "div",
            "choices",
            action("start", "Start position", () => read(START)),
            action("clear", "Empty board", () => read(EMPTY)),
            action("flip", "Flip", () => ground.toggleOrientation()),
          ),
          field,
          errorText,
        ),
      ),
    ],
    [submit],
  );

  let tool: Tool = "move";
  const ground = Chessground(board, {
    orientation,
    movable: { free: true, color: "both" },
    premovable: { enabled: false },
    drawable: { enabled: false },
    highlight: { lastMove: false },
    animation: { enabled: false },
    draggable: { deleteOnDropOff: true, showGhost: true },
    events: { change: () => write(), select: (key) => place(key) },
  });

  /** Selects the effect of a click on a square. */
  function choose(chosen: Tool): void {
    tool = chosen;
    for (const [each, button] of tools)
      button.setAttribute("aria-pressed", String(each === chosen));
    const moves = chosen === "move";
    ground.set({
      movable: { color: moves ? "both" : undefined },
      draggable: { enabled: moves },
      selected: undefined,
    });
  }

  /** Places the selected piece on a square, or removes the piece of the square. */
  function place(key: Key): void {
    if (tool === "move") return;
    const before = ground.state.pieces.get(key);
    const isSame =
      tool !== "remove" &&
      before?.role === tool.role &&
      before.color === tool.color;
    ground.setPieces(
      new Map([[key, tool === "remove" || isSame ? undefined : tool]]),
    );
    ground.selectSquare(null);
    write();
  }

  /** Writes the FEN of the board, and the error if the position is not legal. */
  function write(): void {
    markTyped(dialog, "position");
    const turn = turns[1]?.checked ? "b" : "w";
    const castling =
      rights.map((input) => (input.checked ? input.value : "")).join("") || "-";
    field.value = `${ground.getFen()} ${turn} ${castling} - 0 1`;
    check();
  }

  function check(): string | undefined {
    const fen = field.value.trim().replaceAll("_", " ");
    let message = "";
    let legal: string | undefined;
    try {
      if (!looksLikeFen(fen))
        throw new InputError(
          "A FEN has eight ranks that are joined by slashes.",
        );
      legal = makeFen(positionOf(fen).toSetup());
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      message = error.message;
    }
    showFieldError(field, errorText, message);
    submit.disabled = message !== "";
    return legal;
  }

  /** Shows a FEN on the board. */
  function read(fen: string): void {
    const [pieces = "", turn = "w", castling = "-"] = fen
      .trim()
      .split(/[\s_]+/);
    ground.set({ fen: pieces });
    for (const [index, input] of turns.entries())
      input.checked = (turn === "b") === (index === 1);
    for (const input of rights) input.checked = castling.includes(input.value);
    field.value = fen;
    check();
  }

  for (const input of [...turns, ...rights])
    input.addEventListener("change", write);
  field.addEventListener("input", () => {
    const { value } = field;
    markTyped(dialog, value);
    if (check()) read(value);
  });
  submit.addEventListener("click", () => {
    const fen = check();
    if (!fen) return;
    closeDone(dialog);
    use(fen);
  });
  choose("move");
  read(start);
  // The board measures itself when it is visible.
  ground.redrawAll();
  tools.find(([each]) => each === "move")?.[1].focus({ preventScroll: true });
  dialog.scrollTop = 0;
}
