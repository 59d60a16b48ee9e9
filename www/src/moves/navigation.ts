/** Steps through the game and its variations, and the field for typed moves. */
import { byId, disable, showFieldError } from "../shell/dom";
import { lineFrom, type Node, moveNumber } from "../game/game";
import type { State } from "../state/state";
import type { NormalMove } from "chessops/types";
import { InputError } from "../text/words";
import { loadPart, reportInputError } from "../loading/loading";

interface Navigation {
  first(): void;
  previous(): void;
  next(): void;
  last(): void;
  /** Selects the next (1) or previous (-1) of several next moves; without a choice goes to the end or the start. */
  choose(by: 1 | -1): void;
  /** Enters the first variation of the next move, or of the last move. */
  enter(): void;
  /** Goes back to the position at which the variation leaves its parent line. */
  leave(): void;
}

/** Returns the actions for a state. */
export function navigation(state: State): Navigation {
  const first = () => state.go(state.game.root);
  const last = () => state.go(lineFrom(state.node).at(-1));
  return {
    first,
    last,
    previous: () => state.go(state.node.parent),
    next: () => state.go(state.choice),
    choose: (by) => {
      const { children } = state.node;
      if (children.length < 2) return by > 0 ? last() : first();
      const at = state.choice ? children.indexOf(state.choice) : 0;
      state.choose(children[(at + by + children.length) % children.length]);
    },
    enter: () => {
      const { node } = state;
      const siblings = node.parent?.children ?? [];
      state.go(node.children[1] ?? siblings[siblings.indexOf(node) + 1]);
    },
    leave: () => {
      let { node } = state;
      while (node.parent && node.parent.children[0] === node)
        node = node.parent;
      state.go(node.parent);
    },
  };
}

/** Pixels of a turn of the wheel, and milliseconds, for a step: a trackpad must not race through the game. */
const [TURN, PAUSE] = [100, 80];
/** Milliseconds after which a turn of the wheel is a new one, which steps at once. */
const REST = 250;
/** Minimum length of a swipe in pixels. */
const SWIPE = 40;
/** What a swipe begins on. The graph follows the finger. */
const SWIPED = "#board, #moves, .controls, .verdict, .player";

/** Steps by the wheel over the board, and by swipes that move no piece. */
export function bindGestures({
  previous,
  next,
}: Pick<Navigation, "previous" | "next">): void {
  const board = byId("board");
  let [turned, turnedAt, steppedAt] = [0, -REST, -PAUSE];
  const turn = (event: WheelEvent) => {
    const { deltaY, timeStamp, ctrlKey } = event;
    // With Ctrl the browser zooms.
    if (ctrlKey || deltaY === 0) return;
    event.preventDefault();
    if (timeStamp - turnedAt > REST || turned * deltaY < 0)
      turned = TURN * Math.sign(deltaY);
    else turned += deltaY * (event.deltaMode === 0 ? 1 : 40);
    turnedAt = timeStamp;
    if (Math.abs(turned) < TURN || timeStamp - steppedAt < PAUSE) return;
    [turned, steppedAt] = [0, timeStamp];
    (deltaY > 0 ? next : previous)();
  };
  board.addEventListener("wheel", turn, { passive: false });
  let from: PointerEvent | undefined;
  document.addEventListener("pointerdown", (event) => {
    const { pointerType, target } = event;
    from =
      pointerType === "touch" && (target as Element).closest(SWIPED)
        ? event
        : undefined;
  });
  document.addEventListener("pointerup", ({ pointerId, clientX, clientY }) => {
    if (pointerId !== from?.pointerId) return;
    const [x, y] = [clientX - from.clientX, clientY - from.clientY];
    if (
      Math.abs(x) >= Math.max(SWIPE, 2 * Math.abs(y)) &&
      !board.querySelector("piece.dragging, square.selected")
    )
      (x < 0 ? next : previous)();
  });
}

/** Enables the step buttons that have a target, and disables the rest. */
export function updateStepButtons({ parent, children }: Node): void {
  const [isFirst, isLast] = [!parent, children.length === 0];
  const ends = [
    ["first", isFirst],
    ["previous", isFirst],
    ["next", isLast],
    ["last", isLast],
  ] as const;
  const other = byId(!isLast ? "next" : !isFirst ? "previous" : "flip");
  // Enables buttons first, because an enabled button may get the focus.
  for (const isEnd of [false, true])
    for (const [id, is] of ends) if (is === isEnd) disable(byId(id), is, other);
}

/** Binds the field and returns the function that focuses it. `play` plays a move from a position. */
export function bindTyped(
  state: State,
  play: (node: Node, move: NormalMove) => void = (node, move) =>
    state.play(node, move),
): () => void {
  const field = byId<HTMLInputElement>("move");
  const errorText = byId("move-error");
  const showMessage = (text: string) => showFieldError(field, errorText, text);
  const reading = () => loadPart(import("../game/read-pgn"));
  const playText = (text: string) =>
    reportInputError(async () => {
      const { typedMove } = await reading();
      const { node } = state;
      const move = await typedMove(node.position, text);
      if (!move)
        throw new InputError(
          `${text.trim().slice(0, 12)} is not legal at ${moveNumber(node.position)}`,
        );
      if (field.value === text) field.value = "";
      showMessage("");
      play(node, move);
    }, showMessage);
  let played = Promise.resolve();
  // A move is read from the position after the moves that were entered before it.
  const enter = (text: string) => {
    if (text.trim()) played = played.catch(() => {}).then(() => playText(text));
  };
  field.addEventListener("focus", () => void reading().catch(() => {}));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    // In an empty field the arrow keys step through the game.
    if (
      field.value === "" &&
      (event.key === "ArrowLeft" || event.key === "ArrowRight")
    ) {
      event.preventDefault();
      showMessage("");
      state.go(event.key === "ArrowLeft" ? state.node.parent : state.choice);
    }
    if (event.key === "Enter") enter(field.value);
  });
  field.addEventListener("input", () => showMessage(""));
  field.addEventListener("blur", () => showMessage(""));
  return () => field.focus();
}
