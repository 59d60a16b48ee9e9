/** Creates SVG pictures. */

/** Creates an SVG element with attributes and children. */
export function svg(
  tag: string,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Creates a picture of this size, with a description. */
export function picture(
  width: number,
  height: number,
  label: string,
  ...children: Node[]
): SVGElement {
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
      class: "picture",
    },
    ...children,
  );
}

/** Formats a coordinate with two decimals. */
export const coordinate = (value: number): string => value.toFixed(2);
