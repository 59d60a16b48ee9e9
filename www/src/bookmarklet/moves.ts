/** Moves in the elements of a page. */
import { isMove } from "./notation";
import { refuse } from "./fragment";

/** Elements inside a move that do not belong to its text: numbers, clocks, evaluations, draw offers. */
const EXTRAS = "index,draw,glyph,eval,svg,[class*=time]";

/** Returns the first element that matches a selector. */
export const query = (
  selector: string,
  within: ParentNode = document,
): HTMLElement | null => within.querySelector<HTMLElement>(selector);

/** Returns all elements that match a selector. */
export const queryAll = <E extends Element = Element>(
  selector: string,
  within: ParentNode = document,
): E[] => [...within.querySelectorAll<E>(selector)];

/** Returns an element's trimmed text, or an empty string without an element. */
export const content = (element: Node | null | undefined): string =>
  element?.textContent?.trim() ?? "";

/** Returns the text of a move. A piece may be a letter, a figurine, or an element of an icon font. */
function text(node: Node): string {
  if (node instanceof Text) return content(node);
  if (!(node instanceof Element) || node.matches(EXTRAS)) return "";
  const [piece] =
    /king|queen|rook|bishop|knight/.exec(node.getAttribute("class") ?? "") ??
    [];
  const inside = [...node.childNodes].map(text).join("");
  return (
    node.getAttribute("data-figurine") ||
    inside ||
    (piece === "knight" ? "N" : (piece?.[0] ?? "").toUpperCase())
  );
}

/** Returns the main line of a tree of moves of Lichess or its viewer, without side lines and comments. */
export const mainLine = (list: Element): string[] =>
  movesOf(
    queryAll("move", list).filter(
      (move) => !move.closest("lines,interrupt,inline,variation,.empty"),
    ),
  );

/** Whether a tree of moves begins with move 1. */
export const fromFirst = (list: Element): boolean =>
  /^1(?!\d)/.test(content(list));

/** Returns the moves in elements. Skips elements without text; refuses text that is not a move. */
export function movesOf(elements: Element[]): string[] {
  return elements.flatMap((element) => {
    const move = text(element)
      .replace(/[\s\p{Cf}\ufe0e\ufe0f]|^\d+\.+|[!?‼⁇⁉⁈□✓✗]+$/gu, "")
      .replace(/0/g, "O");
    if (/^[.…]*$/.test(move)) return [];
    return isMove(move) ? move : refuse(`“${move.slice(0, 20)}” is no move.`);
  });
}
