/** The board: moves by mouse and touch, promotion, arrows of lines, and drawings of the PGN. */
import { Chessground } from "@lichess-org/chessground";
import type { Api } from "@lichess-org/chessground/api";
import type { DrawBrushes, DrawShape } from "@lichess-org/chessground/draw";
import type { Key } from "@lichess-org/chessground/types";
import { normalizeMove, type Position } from "chessops/chess";
import { chessgroundDests } from "chessops/compat";
import { makeBoardFen } from "chessops/fen";
import type { CommentShape } from "chessops/pgn";
import type { NormalMove, Role, SquareName } from "chessops/types";
import { makeSquare, opposite, parseSquare } from "chessops/util";
import { byId, calm } from "../shell/dom";
import { capitalised } from "../text/words";
import {
  isPromotion,
  moveNumber,
  type Node,
  squares,
  type Step,
} from "../game/game";
import { Promotion } from "./promotion";

/** Arrows of lines, best line first. */
const LINES = ["best", "second", "other"] as const;
/** Arrows of the PGN and of lines: name, colour, opacity and width. */
const BRUSHES = [
  ["green", "#15781B", 1, 10],
  ["red", "#882020", 1, 10],
  ["blue", "#003088", 1, 10],
  ["yellow", "#e68f00", 1, 10],
  ["best", "#0b5c57", 0.95, 11],
  ["second", "#0b5c57", 0.5, 9],
  ["other", "#0b5c57", 0.35, 7],
] as const;

export class Board {
  readonly #ground: Api;
  readonly #promotion = new Promotion();
  #node: Node | undefined;
  #lines: DrawShape[] = [];
  #drawn: DrawShape[] = [];
  #showsLines = true;
  #allowed: Map<Key, Key[]> | undefined;
  #isMovable: boolean | "later" = true;
  /** The move that is shown instead of the lines. */
  #previewed: { before: Position; arrow: DrawShape } | undefined;

  /** `onMove` is called with each legal move of the user. */
  constructor(private readonly onMove: (move: NormalMove) => void) {
    this.#ground = Chessground(byId("board"), {
      animation: { enabled: !calm(), duration: 160 },
      movable: {
        free: false,
        events: { after: (from, to) => this.#moved(from, to) },
      },
      draggable: { showGhost: true },
      drawable: {
        brushes: Object.fromEntries(
          BRUSHES.map(([key, color, opacity, lineWidth]) => [
            key,
            { key, color, opacity, lineWidth },
          ]),
        ) as DrawBrushes,
      },
    });
  }

  /**
   * Shows a position. The user can play any legal move, or moves between the squares in `allowed`, or `later`: a premove of the side that is not to move,
   * which waits for the next position.
   */
  show(
    node: Node,
    isMovable: boolean | "later" = true,
    allowed?: Map<Key, Key[]>,
  ): void {
    if (node.parent !== this.#node) this.#ground.cancelPremove();
    this.#node = node;
    this.#allowed = allowed;
    this.#isMovable = isMovable;
    this.preview();
    this.#promotion.close();
    this.#place(node);
    const drawn = (node.notes.shapes ?? []).map(drawing);
    if (drawn.length > 0 || this.#drawn.length > 0)
      this.#draw(this.#lines, drawn);
    byId("board").setAttribute("aria-label", describe(node));
    byId("position-text").textContent = pieces(node.position);
  }

  /**
   * Shows a move: an arrow, on the position before the move if that is another position. Without a move, shows the position and the lines again. The
   * user can play moves only in the board's own position.
   */
  preview(step?: Step, before?: Position): void {
    const node = this.#node;
    const last = this.#previewed;
    if (!node || (!step && !last)) return;
    const [orig, dest] =
      step && before ? (squares(before, step.move) as Key[]) : [];
    this.#previewed =
      before && orig && dest
        ? { before, arrow: { orig, dest, brush: "best" } }
        : undefined;
    const [from, to] = [
      last?.before ?? node.position,
      this.#previewed?.before ?? node.position,
    ];
    if (from !== to) {
      byId("board").parentElement?.classList.toggle(
        "previewing",
        to !== node.position,
      );
      this.#ground.set({ animation: { enabled: false } });
      if (to === node.position) this.#place(node);
      else
        this.#ground.set({
          ...picture(to, undefined),
          movable: { color: undefined },
        });
      this.#ground.set({ animation: { enabled: !calm() } });
    }
    this.#drawShapes();
  }

  /** Shows the pieces of a position and allows its moves. */
  #place(node: Node): void {
    const { turn } = node.position;
    this.#ground.set({
      ...picture(
        node.position,
        node.parent && node.move
          ? squares(node.parent.position, node.move)
          : undefined,
      ),
      movable: {
        color:
          this.#isMovable === "later"
            ? opposite(turn)
            : this.#isMovable
              ? turn
              : undefined,
        dests: this.#allowed ?? chessgroundDests(node.position),
      },
    });
  }

  /** Plays the premove if it is legal now. */
  playPremove(): void {
    this.#ground.playPremove();
  }

  /** Draws the first moves of the lines, the best line strongest. */
  arrows(moves: readonly Step[], before: Position): void {
    const seen = new Set<string>();
    const shapes = moves.flatMap<DrawShape>((step, index) => {
      const [orig, dest] = squares(before, step.move) as Key[];
      if (!orig || !dest || seen.has(orig + dest)) return [];
      seen.add(orig + dest);
      return [
        {
          orig,
          dest,
          brush: LINES[index] ?? "other",
        },
      ];
    });
    // Later shapes cover earlier shapes: the best arrow comes last.
    this.#draw(shapes.reverse(), this.#drawn);
  }

  /** Shows or hides the arrows of lines. */
  set showsLines(shows: boolean) {
    this.#showsLines = shows;
    this.#drawShapes();
  }

  /** Shows circles around squares instead of arrows. */
  circle(squares: readonly Key[]): void {
    this.#draw(
      squares.map((orig) => ({ orig, brush: "best" })),
      this.#drawn,
    );
  }

  #draw(lines: DrawShape[], drawn: DrawShape[]): void {
    [this.#lines, this.#drawn] = [lines, drawn];
    this.#drawShapes();
  }

  #drawShapes(): void {
    const previewed = this.#previewed;
    const own = !previewed || previewed.before === this.#node?.position;
    // Circles have no target square.
    const lines = this.#lines.filter(({ dest }) =>
      dest ? this.#showsLines && !previewed : own,
    );
    this.#ground.setAutoShapes([
      ...lines,
      ...(previewed ? [previewed.arrow] : []),
      ...(own ? this.#drawn : []),
    ]);
  }

  /** Side at the bottom. */
  get orientation(): "white" | "black" {
    return this.#ground.state.orientation;
  }

  /** Turns the board and returns the side at the bottom. */
  flip(): "white" | "black" {
    this.#ground.toggleOrientation();
    this.#promotion.close();
    return this.#ground.state.orientation;
  }

  #moved(orig: Key, dest: Key): void {
    const node = this.#node;
    const from = parseSquare(orig as SquareName);
    const to = parseSquare(dest as SquareName);
    if (!node || from === undefined || to === undefined) return;
    const promotes = isPromotion(node.position, from, to);
    // Chessground reports a move with a delay. The board may show another position by then.
    if (
      !node.position.isLegal(
        normalizeMove(node.position, {
          from,
          to,
          promotion: promotes ? "queen" : undefined,
        }),
      )
    )
      this.show(node, true, this.#allowed);
    else if (promotes)
      this.#promotion.ask(
        node.position.turn,
        to,
        this.#ground.state.orientation,
        (promotion) => {
          if (promotion) this.onMove({ from, to, promotion });
          else this.show(node, true, this.#allowed);
        },
      );
    else this.onMove({ from, to });
  }
}

function picture(position: Position, lastMove: string[] | undefined) {
  return {
    fen: makeBoardFen(position.board),
    turnColor: position.turn,
    check: position.isCheck(),
    lastMove: lastMove as Key[] | undefined,
    selected: undefined,
  };
}

/** Returns an arrow or a circle that the author of the PGN drew. */
const drawing = ({ color, from, to }: CommentShape): DrawShape => ({
  orig: makeSquare(from),
  ...(to === from ? {} : { dest: makeSquare(to) }),
  brush: color,
});

function describe(node: Node): string {
  const last = node.parent
    ? `${moveNumber(node.parent.position)} ${node.san}. `
    : "";
  return `Chess board. ${last}${capitalised(node.position.turn)} to move.`;
}

/** Describes the position in words, for screen readers. */
function pieces(position: Position): string {
  const side = (color: "white" | "black") =>
    ["king", "queen", "rook", "bishop", "knight", "pawn"]
      .flatMap((role) => {
        const found = Array.from(
          position.board.pieces(color, role as Role),
          makeSquare,
        );
        return found.length > 0 ? [`${role} ${found.join(" ")}`] : [];
      })
      .join(", ");
  return `White: ${side("white")}. Black: ${side("black")}.`;
}

/** Keys that move the focus. Other keys act on the focused button. */
const FOCUS_KEYS = /^(Arrow|Tab$|Home$|End$)/;

/**
 * Calls `show` when the mouse moves over `target`, and when a key moves the focus to `button`. A name that appears under a resting pointer is not
 * shown: after a click the board keeps the new position. Touches show nothing.
 */
export function bindPreview(
  target: HTMLElement,
  button: HTMLElement,
  show: () => void,
): void {
  let isShown = false;
  target.addEventListener("pointermove", ({ pointerType }) => {
    if (pointerType !== "mouse" || isShown) return;
    isShown = true;
    show();
  });
  target.addEventListener("pointerleave", () => (isShown = false));
  button.addEventListener("keyup", ({ key }) => FOCUS_KEYS.test(key) && show());
}

/** Actions of the buttons of moves. */
export interface MoveActions {
  play(step: Step): void;
  /** Shows a move on the board. */
  show(step: Step): void;
}

/** Plays a move at a click on `target`, and shows the move like `bindPreview`. */
export function bindMove(
  target: HTMLElement,
  button: HTMLElement,
  step: Step,
  { play, show }: MoveActions,
): void {
  target.addEventListener("click", () => play(step));
  bindPreview(target, button, () => show(step));
}

/** Calls `hide` when the mouse or the focus leaves `root`. */
export function bindPreviewEnd(root: HTMLElement, hide: () => void): void {
  root.addEventListener("pointerleave", hide);
  root.addEventListener(
    "focusout",
    ({ relatedTarget }) =>
      root.contains(relatedTarget as Element | null) || hide(),
  );
}
