// Creates elements. Does not parse HTML, because the policy of a page may forbid it.

/** An SVG element: its tag, attributes and children. */
export type Drawing = readonly [
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: Drawing[],
];

const SVG = "http://www.w3.org/2000/svg";

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function draw([tag, attributes, ...children]: Drawing): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children.map(draw));
  return element;
}

/** Returns a score with a real minus sign. */
export const minus = (score: string): string => score.replace("-", "−");
