/** Steps through the game: along a line, into variations and out of them. */
import { byId, disable } from "../shell/dom";
import { lineFrom, type Node } from "../game/game";
import type { State } from "./state";

/** What the step buttons and keys do. */
export interface Navigation {
  first(): void;
  previous(): void;
  next(): void;
  last(): void;
  /** Where several moves go on, chooses the next (1) or the one before (-1) of them; elsewhere goes to the end or the start. */
  choose(by: 1 | -1): void;
  /** Goes into the first variation beside the next move, or beside the last one played. */
  enter(): void;
  /** Goes back to where the variation leaves its parent line. */
  leave(): void;
}

/** The steps of a page's state. */
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
      while (node.parent && node.parent.children[0] === node) node = node.parent;
      state.go(node.parent);
    },
  };
}

/** Enables the buttons of the steps that lead on from a position, and disables the others. */
export function updateStepButtons({ parent, children }: Node): void {
  const [isFirst, isLast] = [!parent, children.length === 0];
  const ends = [["first", isFirst], ["previous", isFirst], ["next", isLast], ["last", isLast]] as const;
  const other = byId(!isLast ? "next" : !isFirst ? "previous" : "flip");
  // Those that lead on first: one of them may get the focus.
  for (const isEnd of [false, true]) for (const [id, is] of ends) if (is === isEnd) disable(byId(id), is, other);
}
