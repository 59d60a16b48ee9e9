/** The graph of winning chances along the game, with an axis. Parts without scores are hatched; the graph is also a slider. */
import { draw } from "../../../crate/js/elements/dom.ts";
import { byId, make } from "../shell/dom";
import { moveNumber, type Node } from "../game/game";
import { glyphOf, markWords } from "./judgment";
import { bestScore, type KnownScore } from "../score/known-score";
import type { State } from "../state/state";

const WIDTH = 1000;
const HEIGHT = 100;
/** What is said about hatched parts. */
const NO_SCORE = "no score yet";

/** The graph: a slider over the positions of the main line. */
export class Graph {
  readonly #root = byId("graph");
  readonly #picture = draw([
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
  ]);
  readonly #plot = make("div", "plot");
  readonly #marks = make("div", { className: "marks", "aria-hidden": "true" });
  readonly #cursor = make("div", {
    className: "cursor",
    "aria-hidden": "true",
  });
  readonly #dot = make("i", { className: "dot", "aria-hidden": "true" });
  readonly #tip = make("div", {
    className: "tip",
    hidden: true,
    "aria-hidden": "true",
    "data-testid": "graph-tip",
  });
  #line: Node[] = [];
  #known: (KnownScore | undefined)[] = [];

  constructor(private readonly state: State) {
    const root = this.#root;
    this.#plot.append(
      this.#picture,
      this.#marks,
      this.#cursor,
      this.#dot,
      this.#tip,
    );
    const better = (side: string) =>
      make("span", {}, side, make("span", "better", " better"));
    root.append(
      make(
        "div",
        { className: "axis", "aria-hidden": "true" },
        better("White"),
        make("span", "better", "0"),
        better("Black"),
      ),
      this.#plot,
    );
    for (const [name, value] of Object.entries({
      role: "slider",
      tabindex: "0",
      "aria-label": "Position of the game",
      "aria-valuemin": "0",
    }))
      root.setAttribute(name, value);
    this.#bindPointer();
    root.addEventListener("keydown", (event) => this.#key(event));
    state.join(({ tree, node, known, report }) => {
      const grown =
        tree ||
        report ||
        (known && this.#line.some(({ fen }) => known.has(fen)));
      if (grown) this.#draw();
      if (grown || node) this.#mark();
    });
  }

  #bindPointer(): void {
    const root = this.#root;
    const ply = ({ clientX }: PointerEvent) => {
      const { left, width } = this.#plot.getBoundingClientRect();
      return Math.max(
        0,
        Math.min(
          this.#line.length - 1,
          Math.round(((clientX - left) / width) * (this.#line.length - 1)),
        ),
      );
    };
    root.addEventListener("pointerdown", (event) => {
      root.setPointerCapture(event.pointerId);
      this.state.go(this.#line[ply(event)]);
      this.#hint(ply(event));
    });
    root.addEventListener("pointermove", (event) => {
      if (root.hasPointerCapture(event.pointerId))
        this.state.go(this.#line[ply(event)]);
      this.#hint(ply(event));
    });
    for (const end of ["pointerleave", "blur"])
      root.addEventListener(end, () => (this.#tip.hidden = true));
    root.addEventListener("focus", () => this.#hintFocused());
  }

  /** Handles the keys of a slider. The page handles the other keys. */
  #key(event: KeyboardEvent): void {
    const at = Math.max(0, this.#line.indexOf(this.state.node));
    const to = {
      ArrowUp: at + 1,
      ArrowDown: at - 1,
      PageUp: at + 10,
      PageDown: at - 10,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.state.go(this.#line[Math.max(0, Math.min(this.#line.length - 1, to))]);
  }

  #draw(): void {
    this.#line = this.state.game.mainline();
    this.#known = this.#line.map((node) => bestScore(node, this.state));
    const areas: string[] = [];
    const gaps: [from: number, to: number][] = [];
    const last = this.#line.length - 1;
    this.#known.forEach((known, ply) => {
      const next = this.#known[ply + 1];
      if (ply === last) return;
      if (known && next)
        areas.push(
          `M${this.#x(ply)} ${HEIGHT}L${this.#x(ply)} ${y(known)}L${this.#x(ply + 1)} ${y(next)}L${this.#x(ply + 1)} ${HEIGHT}Z`,
        );
      else if (gaps.at(-1)?.[1] === ply)
        gaps[gaps.length - 1] = [gaps.at(-1)?.[0] ?? ply, ply + 1];
      else gaps.push([ply, ply + 1]);
    });
    this.#picture.replaceChildren(
      draw(["path", { class: "area", d: areas.join("") }]),
      draw([
        "line",
        {
          class: "zero",
          x1: "0",
          x2: `${WIDTH}`,
          y1: `${HEIGHT / 2}`,
          y2: `${HEIGHT / 2}`,
        },
      ]),
    );
    const place = (mark: HTMLElement, from: number, to?: number) => {
      mark.style.left = `${this.#x(from) / 10}%`;
      if (to !== undefined)
        mark.style.width = `${(this.#x(to) - this.#x(from)) / 10}%`;
      return mark;
    };
    this.#marks.replaceChildren(
      ...this.#phases().map(({ name, ply }, index, { [index + 1]: next }) =>
        place(
          make(
            "span",
            ply > 0 ? "phase begins" : "phase",
            make("b", { "data-phase": name.toLowerCase() }, name),
          ),
          ply,
          next?.ply ?? last,
        ),
      ),
      ...gaps.map((gap) =>
        place(make("i", "gap", make("b", {}, NO_SCORE)), ...gap),
      ),
      ...this.#line.flatMap((node, ply) => {
        const known = this.#known[ply];
        const { kind } = ply > 0 ? glyphOf(node, this.state) : {};
        if (!kind || !known) return [];
        const mark = place(make("i", `bad ${kind}`), ply);
        mark.style.top = `${y(known)}%`;
        return [mark];
      }),
    );
    this.#root.classList.toggle("empty", last < 1);
    this.#root.setAttribute("aria-valuemax", String(last));
    this.#root.setAttribute("aria-disabled", String(last < 1));
  }

  /** Returns the phases of the game with their first plies. */
  #phases(): { name: string; ply: number }[] {
    const phases = this.state.assessment?.report.phases;
    if (!phases) return [];
    const { middlegame, endgame } = phases;
    const begin = (name: string, ply: number | null) =>
      ply === null ? [] : [{ name, ply }];
    return [
      ...(middlegame === 0 || endgame === 0
        ? []
        : [{ name: "Opening", ply: 0 }]),
      ...begin("Middlegame", middlegame),
      ...begin("Endgame", endgame),
    ];
  }

  #mark(): void {
    const ply = this.#line.indexOf(this.state.node);
    const known = this.#known[ply];
    this.#cursor.hidden = ply === -1 || this.#line.length < 2;
    this.#dot.hidden = this.#cursor.hidden || !known;
    this.#cursor.style.transform = `translateX(${this.#x(ply) / 10}%)`;
    if (known) this.#dot.style.translate = `${this.#x(ply) / 10}% ${y(known)}%`;
    this.#root.setAttribute("aria-valuenow", String(Math.max(0, ply)));
    this.#root.setAttribute(
      "aria-valuetext",
      this.#words(
        this.state.node,
        ply === -1 ? bestScore(this.state.node, this.state) : known,
      ),
    );
    this.#hintFocused();
  }

  /** Names the move on the board while keys move the slider. */
  #hintFocused(): void {
    if (this.#root.matches(":focus-visible"))
      this.#hint(this.#line.indexOf(this.state.node));
  }

  #hint(ply: number): void {
    const node = this.#line[ply];
    this.#tip.hidden = !node || this.#line.length < 2;
    if (!node) return;
    this.#tip.textContent = this.#words(node, this.#known[ply]);
    // The tip stays inside the graph: it is left-aligned at the left end and right-aligned at the right end.
    const share = this.#x(ply) / 10;
    this.#tip.style.left = `${share}%`;
    this.#tip.style.translate = `${-share}% 0`;
  }

  /** Describes a position: "12. Nf3, +0.35, mistake". */
  #words(node: Node, known: KnownScore | undefined): string {
    const move = node.parent
      ? `${moveNumber(node.parent.position)} ${node.san}`
      : "Start";
    const { kind, mark } = node.parent ? glyphOf(node, this.state) : {};
    const [word] = mark ? markWords(mark).split(":") : [kind];
    return `${move}, ${known?.text ?? NO_SCORE}${word ? `, ${word.toLowerCase()}` : ""}`;
  }

  #x(ply: number): number {
    return (
      Math.round((ply / Math.max(1, this.#line.length - 1)) * WIDTH * 10) / 10
    );
  }
}

const y = ({ chances }: KnownScore): number =>
  Math.round((50 - chances * 47) * 10) / 10;
