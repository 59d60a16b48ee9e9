// The graph of scores. Unknown positions are hatched, and no line crosses them.

import { draw, make } from "../elements/dom.js";

const [WIDTH, HEIGHT] = [600, 100];

export class Graph {
  readonly element = make("div", {
    part: "graph",
    class: "graph",
    role: "slider",
    tabindex: "0",
    "aria-label": "Move",
    "aria-valuemin": "0",
  });
  readonly #picture = draw([
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
  ]);
  readonly #cursor = make("div", { class: "cursor" });
  #last = 0;

  constructor(go: (ply: number) => void) {
    this.element.append(this.#picture, this.#cursor);
    const point = ({ clientX }: PointerEvent) => {
      const { left, width } = this.element.getBoundingClientRect();
      go(
        Math.round(
          Math.min(1, Math.max(0, (clientX - left) / width)) * this.#last,
        ),
      );
    };
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.element.setPointerCapture(event.pointerId);
      point(event);
    });
    this.element.addEventListener(
      "pointermove",
      (event) =>
        this.element.hasPointerCapture(event.pointerId) && point(event),
    );
  }

  /** Draws the chances at each ply, from -1 to 1; `undefined` if unknown. */
  show(points: readonly (number | undefined)[]): void {
    this.#last = Math.max(0, points.length - 1);
    this.element.ariaValueMax = String(this.#last);
    const step = WIDTH / Math.max(1, this.#last);
    const y = (point: number) => ((1 - point) * HEIGHT) / 2;
    const marks: SVGElement[] = [];
    // A known ply extends half a step to both sides.
    const edge = (n: number) => Math.min(WIDTH, Math.max(0, n * step));
    for (let from = 0; from < points.length;) {
      if (points[from] === undefined) {
        from++;
        continue;
      }
      let until = from;
      while (until + 1 < points.length && points[until + 1] !== undefined)
        until++;
      const run = points.slice(from, until + 1).map((point) => y(point ?? 0));
      const [left, right] = [edge(from - 0.5), edge(until + 0.5)];
      const line = run
        .map(
          (height, n) => `L${edge(from + n).toFixed(1)} ${height.toFixed(1)}`,
        )
        .join("");
      const ends = [run[0] ?? 0, run.at(-1) ?? 0].map((height) =>
        height.toFixed(1),
      );
      marks.push(
        draw([
          "rect",
          {
            x: left.toFixed(1),
            y: "0",
            width: (right - left).toFixed(1),
            height: String(HEIGHT),
            class: "black-share",
          },
        ]),
      );
      marks.push(
        draw([
          "path",
          {
            d: `M${left.toFixed(1)} ${HEIGHT}L${left.toFixed(1)} ${ends[0]}${line}L${right.toFixed(1)} ${ends[1]}L${right.toFixed(1)} ${HEIGHT}z`,
            class: "white-share",
          },
        ]),
      );
      from = until + 1;
    }
    this.#picture.replaceChildren(
      ...marks,
      draw(["path", { d: `M0 ${HEIGHT / 2}H${WIDTH}`, class: "zero" }]),
    );
  }

  /** Marks a ply, and describes it for screen readers. */
  point(ply: number, text: string): void {
    this.#cursor.style.left = `${(100 * ply) / Math.max(1, this.#last)}%`;
    this.element.ariaValueNow = String(ply);
    this.element.ariaValueText = text;
  }
}
