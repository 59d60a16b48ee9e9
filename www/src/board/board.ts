/** The board: moves by mouse and touch, promotion, arrows of lines, and drawings of the PGN. */
import { Chessground } from "@lichess-org/chessground";
import type { Api } from "@lichess-org/chessground/api";
import type { DrawShape } from "@lichess-org/chessground/draw";
import type { Key } from "@lichess-org/chessground/types";
import { normalizeMove, type Position } from "chessops/chess";
import { chessgroundDests } from "chessops/compat";
import { makeBoardFen } from "chessops/fen";
import type { CommentShape } from "chessops/pgn";
import type { NormalMove, Role, SquareName } from "chessops/types";
import { makeSquare, opposite, parseSquare } from "chessops/util";
import { byId, calm } from "../shell/dom";
import { moveNumber, type Node, type Step, squares } from "../game/game";
import { isPromotion } from "../game/legal-moves";
import { Promotion } from "./promotion";

/** Arrows, best line first. */
const BRUSHES = ["best", "second", "other"] as const;

/** Restricts the moves that can be played. */
export interface Allowed {
  dests: Map<Key, Key[]>;
  /** Returns the pieces that a pawn may promote to, with a label for each. */
  offers(from: number, to: number): ReadonlyMap<Role, string>;
}

export class Board {
  readonly #ground: Api;
  readonly #promotion = new Promotion();
  #node: Node | undefined;
  #lines: DrawShape[] = [];
  #drawn: DrawShape[] = [];
  #threat: DrawShape[] = [];
  #showsLines = true;
  #allowed: Allowed | undefined;
  #isMovable = true;
  #isPremovable = false;
  /** The move that is shown instead of the lines. */
  #previewed: { before: Position; arrow: DrawShape } | undefined;

  /**
   * `onMove` is called with each legal move of the user, `onSelect` with the square of the selected piece or `undefined`. `onPremove` is called with
   * each premove, or with `undefined` if the user cancels it.
   */
  constructor(
    private readonly onMove: (move: NormalMove) => void,
    onSelect?: (key: Key | undefined) => void,
    private readonly onPremove?: (move: NormalMove | undefined) => void,
  ) {
    this.#ground = Chessground(byId("board"), {
      animation: { enabled: !calm(), duration: 160 },
      movable: {
        free: false,
        events: { after: (from, to) => this.#moved(from, to) },
      },
      premovable: {
        enabled: onPremove !== undefined,
        events: {
          set: (from, to) => this.#premoved(from, to),
          unset: () => onPremove?.(undefined),
        },
      },
      ...(onSelect && {
        events: { select: () => onSelect(this.#ground.state.selected) },
      }),
      draggable: { showGhost: true },
      drawable: {
        brushes: {
          green: { key: "g", color: "#15781B", opacity: 1, lineWidth: 10 },
          red: { key: "r", color: "#882020", opacity: 1, lineWidth: 10 },
          blue: { key: "b", color: "#003088", opacity: 1, lineWidth: 10 },
          yellow: { key: "y", color: "#e68f00", opacity: 1, lineWidth: 10 },
          best: { key: "best", color: "#0b5c57", opacity: 0.95, lineWidth: 11 },
          second: {
            key: "second",
            color: "#0b5c57",
            opacity: 0.5,
            lineWidth: 9,
          },
          other: {
            key: "other",
            color: "#0b5c57",
            opacity: 0.35,
            lineWidth: 7,
          },
        },
      },
    });
  }

  /** Shows a position. The user can play any legal move, or the moves in `allowed`, or premoves of the side that is not to move. */
  show(
    node: Node,
    isMovable = true,
    allowed?: Allowed,
    isPremovable = false,
  ): void {
    this.#node = node;
    this.#allowed = allowed;
    this.#isMovable = isMovable;
    this.#isPremovable = isPremovable;
    this.#ground.state.premovable.current = undefined;
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

  /** Marks a premove, or removes the mark. */
  markPremove(move?: NormalMove): void {
    this.#ground.state.premovable.current = move && [
      makeSquare(move.from),
      makeSquare(move.to),
    ];
    this.#ground.state.dom.redraw();
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
        color: this.#isMovable
          ? turn
          : this.#isPremovable
            ? opposite(turn)
            : undefined,
        dests: this.#allowed?.dests ?? chessgroundDests(node.position),
      },
    });
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
          brush: BRUSHES[Math.min(index, BRUSHES.length - 1)] ?? "other",
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

  /** Draws a move that the other side threatens, or removes it. */
  threat(step: Step | undefined, before: Position | undefined): void {
    const [orig, dest] =
      step && before ? (squares(before, step.move) as Key[]) : [];
    this.#threat = orig && dest ? [{ orig, dest, brush: "red" }] : [];
    this.#drawShapes();
  }

  /** Shows labels on squares instead of arrows. */
  mark(words: ReadonlyMap<Key, string>): void {
    const shapes = [...words].map(([orig, word]): DrawShape => {
      const half = 9 * word.length + 9;
      const chip = `<rect x="${50 - half}" y="32" width="${2 * half}" height="36" rx="12" fill="#24221e" fill-opacity="0.82" />`;
      return {
        orig,
        customSvg: {
          html: `${chip}<text x="50" y="59" font-size="27" text-anchor="middle" fill="#fffdf9">${word}</text>`,
          center: "orig",
        },
      };
    });
    this.#draw(shapes, this.#drawn);
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
    // Labels of squares have no target square.
    const lines = this.#lines.filter(({ dest }) =>
      dest ? this.#showsLines && !previewed : own,
    );
    this.#ground.setAutoShapes([
      ...lines,
      ...(own ? this.#threat : []),
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
        this.#allowed?.offers(from, to),
      );
    else this.onMove({ from, to });
  }

  #premoved(orig: Key, dest: Key): void {
    const from = parseSquare(orig as SquareName);
    const to = parseSquare(dest as SquareName);
    const { position } = this.#node ?? {};
    // Chessground reports a premove with a delay. The other side may have moved by then.
    if (
      !position ||
      !this.#isPremovable ||
      from === undefined ||
      to === undefined
    )
      return;
    if (!isPromotion(position, from, to)) return this.onPremove?.({ from, to });
    this.#promotion.ask(
      opposite(position.turn),
      to,
      this.orientation,
      (promotion) => {
        this.markPremove(promotion && { from, to });
        this.onPremove?.(promotion && { from, to, promotion });
      },
    );
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
  return `Chess board. ${last}${node.position.turn === "white" ? "White" : "Black"} to move.`;
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
