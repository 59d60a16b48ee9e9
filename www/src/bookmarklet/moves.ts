/** Moves as elements of a page show them. */
import { isMove } from "./notation";
import { refuse } from "./refusal";

/** What stands within a move but is none of it: numbers, clocks, evaluations, offers of a draw. */
const BESIDE = "index,draw,glyph,eval,svg,[class*=time]";

/** The first element that a selector finds. */
export const query = (selector: string, within: ParentNode = document): HTMLElement | null => within.querySelector<HTMLElement>(selector);

/** All of them. */
export const queryAll = <E extends Element = Element>(selector: string, within: ParentNode = document): E[] => [...within.querySelectorAll<E>(selector)];

/** An element's text without spaces around; empty if there is no such element. */
export const content = (element: Node | null | undefined): string => element?.textContent?.trim() ?? "";

/** The text of a move. A piece may be a letter, a figurine, or an element that a font of icons draws. */
function text(node: Node): string {
  if (node instanceof Text) return content(node);
  if (!(node instanceof Element) || node.matches(BESIDE)) return "";
  const [piece] = /king|queen|rook|bishop|knight/.exec(node.getAttribute("class") ?? "") ?? [];
  const inside = [...node.childNodes].map(text).join("");
  return node.getAttribute("data-figurine") || inside || (piece === "knight" ? "N" : (piece?.[0] ?? "").toUpperCase());
}

/** The main line of a tree of moves as Lichess and its viewer show it, among side lines and comments. */
export const mainLine = (list: Element): string[] => movesOf(queryAll("move", list).filter((move) => !move.closest("lines,interrupt,inline,variation,.empty")));

/** Whether a tree of moves begins with the first one. */
export const fromFirst = (list: Element): boolean => /^1(?!\d)/.test(content(list));

/** The moves that elements show, in order. Those without one are skipped; what is no move is refused by name. */
export function movesOf(elements: Element[]): string[] {
  return elements.flatMap((element) => {
    const move = text(element)
      .replace(/[\s\p{Cf}\ufe0e\ufe0f]|^\d+\.+|[!?‼⁇⁉⁈□✓✗]+$/gu, "")
      .replace(/0/g, "O");
    if (/^[.…]*$/.test(move)) return [];
    return isMove(move) ? move : refuse(`“${move.slice(0, 20)}” is no move.`);
  });
}
