/** The evaluation along the game as a small area chart; a click goes there. */
import { byId } from "./dom";

const SVG = "http://www.w3.org/2000/svg";

/** The chart above the move list. */
export class Graph {
  readonly #root = byId("graph");
  readonly #area = shape("path", "area");
  readonly #cursor = shape("line", "cursor");
  readonly #dot = Object.assign(document.createElement("i"), { className: "dot" });
  #points: (number | undefined)[] = [];

  /** `go` gets the ply that was clicked on. */
  constructor(go: (ply: number) => void) {
    const svg = shape("svg", "");
    svg.setAttribute("viewBox", "0 0 1000 100");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const zero = shape("line", "zero");
    for (const [name, value] of [["x1", "0"], ["x2", "1000"], ["y1", "50"], ["y2", "50"]] as const) zero.setAttribute(name, value);
    svg.append(this.#area, zero, this.#cursor);
    this.#root.append(svg, this.#dot);
    const at = (event: PointerEvent) => {
      const box = this.#root.getBoundingClientRect();
      go(Math.round(((event.clientX - box.left) / box.width) * Math.max(1, this.#points.length - 1)));
    };
    this.#root.addEventListener("pointerdown", (event) => {
      this.#root.setPointerCapture(event.pointerId);
      at(event);
    });
    this.#root.addEventListener("pointermove", (event) => this.#root.hasPointerCapture(event.pointerId) && at(event));
  }

  /** White's advantage (-1 to 1) at each ply of the main line, where it is known, and the ply on the board, if it is on that line. */
  show(points: (number | undefined)[], ply: number | undefined): void {
    this.#points = points;
    const known = points.flatMap((value, index) => (value === undefined ? [] : [{ x: this.#x(index), y: y(value) }]));
    this.#root.hidden = known.length < 2;
    const [first, last] = [known[0], known.at(-1)];
    if (!first || !last) return;
    this.#area.setAttribute("d", `M${first.x} 100${known.map((point) => `L${point.x} ${point.y}`).join("")}L${last.x} 100Z`);
    const here = ply === undefined ? undefined : this.#x(ply);
    this.#cursor.setAttribute("visibility", here === undefined ? "hidden" : "visible");
    for (const [name, value] of [["x1", here ?? 0], ["x2", here ?? 0], ["y1", 0], ["y2", 100]] as const) this.#cursor.setAttribute(name, String(value));
    const value = ply === undefined ? undefined : points[ply];
    this.#dot.hidden = here === undefined || value === undefined;
    if (here !== undefined && value !== undefined) {
      this.#dot.style.left = `${here / 10}%`;
      this.#dot.style.top = `${y(value)}%`;
    }
  }

  #x(index: number): number {
    return Math.round((index / Math.max(1, this.#points.length - 1)) * 10_000) / 10;
  }
}

const y = (value: number): number => Math.round((50 - value * 48) * 10) / 10;

function shape(tag: string, className: string): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  if (className) element.setAttribute("class", className);
  return element;
}
