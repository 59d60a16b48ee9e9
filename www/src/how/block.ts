/** Pictures of a block: the sizes of its columns, and the tree of its positions. */
import { plural, size } from "../text/units";
import { make } from "../shell/dom";
import type { Frame } from "./frame";
import { parentsOf } from "./pages";
import { coordinate, picture, svg } from "./svg";

/** The first column of each group of columns (FORMAT.md, "Blocks"), with the group's class and label. */
const GROUPS: readonly (readonly [
  first: number,
  name: string,
  what: string,
])[] = [
  [0, "positions", "positions"],
  [15, "numbers", "depths, nodes, scores"],
  [26, "lines", "best lines"],
];

/** Draws the columns of a block: their decompressed sizes above, their stored sizes below. */
export function groups({
  columns,
  content,
  stored,
}: Frame): [SVGElement, HTMLElement] {
  const width = 376;
  const marks: SVGElement[] = [];
  const sums = new Map<string, number>();
  let [left, right] = [0, 0];
  const scale = width / content;
  columns.forEach((column, n) => {
    const [, name = ""] = GROUPS.findLast(([first]) => first <= n) ?? [];
    const kept = column.stored ?? (column.bytes.length * stored) / content;
    sums.set(name, (sums.get(name) ?? 0) + kept);
    const [above, below] = [column.bytes.length * scale, kept * scale];
    if (above === 0) return;
    marks.push(
      svg("path", {
        d: `M${coordinate(left)} 22L${coordinate(left + above)} 22L${coordinate(right + below)} 44L${coordinate(right)} 44z`,
        class: `${name} joint`,
      }),
    );
    marks.push(
      svg("rect", {
        x: coordinate(left),
        y: 2,
        width: coordinate(Math.max(0.4, above - 0.5)),
        height: 20,
        class: name,
      }),
    );
    marks.push(
      svg("rect", {
        x: coordinate(right),
        y: 44,
        width: coordinate(Math.max(0.4, below - 0.5)),
        height: 20,
        class: name,
      }),
    );
    left += above;
    right += below;
  });
  const taken = GROUPS.map(
    ([, name, what]) =>
      [name, `${what} ${size(Math.round(sums.get(name) ?? 0))}`] as const,
  );
  const label = `${columns.length} columns as they are and as they are stored: ${taken.map(([, text]) => text).join(", ")}`;
  const legend = make(
    "p",
    { className: "groups" },
    ...taken.map(([name, text]) =>
      make("span", {}, make("i", { className: name }), text),
    ),
  );
  const rest = svg(
    "text",
    { x: coordinate(right + 8), y: 58, class: "label" },
    "as stored",
  );
  return [picture(width, 66, label, ...marks, rest), legend];
}

/** Draws the positions of a block in their order. A line joins each position to the position that it is derived from. */
export function forest({ columns }: Frame): SVGElement {
  const parents = parentsOf(columns[0]?.bytes ?? new Uint8Array());
  const depths: number[] = [];
  for (const parent of parents)
    depths.push(parent === -1 ? 0 : (depths[parent] ?? 0) + 1);
  const deepest = Math.max(1, ...depths);
  const [width, height] = [376, 110];
  const x = (n: number) =>
    4 + (n * (width - 8)) / Math.max(1, parents.length - 1);
  const y = (n: number) => 5 + ((depths[n] ?? 0) * (height - 10)) / deepest;
  const steps = parents
    .map((parent, n) =>
      parent === -1
        ? ""
        : `M${coordinate(x(parent))} ${coordinate(y(parent))}L${coordinate(x(n))} ${coordinate(y(n))}`,
    )
    .join("");
  const dots = parents.map((parent, n) =>
    svg("circle", {
      cx: coordinate(x(n)),
      cy: coordinate(y(n)),
      r: parent === -1 ? 3 : 1.1,
      class: parent === -1 ? "root" : "node",
    }),
  );
  const roots = parents.filter((parent) => parent === -1).length;
  const label = `A forest of ${plural(parents.length, "position")} with ${plural(roots, "root")}, up to ${plural(deepest, "step")} deep`;
  return picture(
    width,
    height,
    label,
    svg("path", { d: steps, class: "steps-of-forest" }),
    ...dots,
  );
}
