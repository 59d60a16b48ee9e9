/** The strip of a database's files, and below it the enlarged range around the last read. */
import type { Shard } from "shelfish";
import { calm, make } from "../shell/dom";
import {
  type Box,
  layout,
  pixelsOf,
  type ByteRange,
  surroundings,
} from "./layout";
import type { Read } from "./traffic";

/** Heights in CSS pixels of the strip, the joint and the enlarged range. */
const [STRIP, JOINT, DETAIL] = [30, 16, 22];
const LEAST = 2;
/** Maximum number of reads that light up at once. */
const LIGHTS = 40;

/** Resolved colours, read from the legend: a canvas cannot use custom properties. */
export type Palette = Record<
  "file" | "page" | "network" | "indexedDB" | "failed",
  string
>;

export class Strip {
  readonly element: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #lights: HTMLElement;
  #shards: readonly Shard[] = [];
  #width = 0;

  constructor(private readonly palette: () => Palette) {
    this.#canvas = make("canvas", {
      role: "img",
      "aria-label": "Files of the database",
    });
    this.#lights = make("div", { className: "lights" });
    this.element = make(
      "div",
      { className: "strip" },
      this.#canvas,
      this.#lights,
    );
  }

  /** Whether the strip has a width on the page. */
  get isSeen(): boolean {
    return this.element.clientWidth > 0;
  }

  open(shards: readonly Shard[]): void {
    this.#shards = shards;
  }

  /** Draws all reads and the range around `focus`. Returns that range if it is enlarged. */
  draw(
    reads: Iterable<Read>,
    focus: Read | undefined,
    label?: string,
  ): ByteRange | undefined {
    const width = this.element.clientWidth;
    const context = this.#canvas.getContext("2d");
    if (!context || width === 0) return undefined;
    this.#width = width;
    const boxes = layout(this.#shards, width);
    const home = focus && boxes.find(({ file }) => file === focus.file);
    const near = home && focus && surroundings(home, focus);
    // A range that would be magnified less than twice is not enlarged.
    const detail =
      near &&
      home &&
      (near.end - near.start) / home.bytes < home.width / width / 2
        ? near
        : undefined;
    const height = detail ? STRIP + JOINT + DETAIL : STRIP;
    const ratio = window.devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round((STRIP + JOINT + DETAIL) * ratio);
    this.#canvas.style.height = `${STRIP + JOINT + DETAIL}px`;
    if (label) this.#canvas.ariaLabel = label;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    const colours = this.palette();
    const list = [...reads];
    row(context, colours, boxes, list, 0, STRIP);
    if (detail && home) {
      const from = pixelsOf(boxes, detail, 0);
      const top = STRIP + JOINT;
      if (from) {
        context.fillStyle = colours.file;
        context.globalAlpha = 0.5;
        context.beginPath();
        context.moveTo(from.x, STRIP);
        context.lineTo(from.x + from.width, STRIP);
        context.lineTo(width, top);
        context.lineTo(0, top);
        context.fill();
        context.globalAlpha = 1;
      }
      const scale = width / (detail.end - detail.start);
      const box: Box = {
        ...home,
        x: -detail.start * scale,
        width: home.bytes * scale,
      };
      const seen = list.filter(
        ({ file, start, end }) =>
          file === home.file && end > detail.start && start < detail.end,
      );
      context.save();
      context.beginPath();
      context.rect(0, top, width, DETAIL);
      context.clip();
      row(context, colours, [box], seen, top, DETAIL);
      context.restore();
    }
    return detail;
  }

  /** Highlights a new read for a moment, by a CSS animation. */
  light(read: Read): void {
    if (calm() || this.#width === 0 || this.#lights.childElementCount >= LIGHTS)
      return;
    const at = pixelsOf(layout(this.#shards, this.#width), read, LEAST + 1);
    if (!at) return;
    const light = make("i", { className: read.from });
    light.style.transform = `translateX(${at.x.toFixed(1)}px)`;
    light.style.width = `${at.width.toFixed(1)}px`;
    light.addEventListener("animationend", () => light.remove());
    this.#lights.append(light);
  }
}

/** Draws files, their pages, and the reads. */
function row(
  context: CanvasRenderingContext2D,
  colours: Palette,
  boxes: readonly Box[],
  reads: readonly Read[],
  y: number,
  height: number,
): void {
  for (const { x, width, bytes, pageBytes } of boxes) {
    context.fillStyle = colours.file;
    context.fillRect(x, y, Math.max(0.5, width), height);
    context.fillStyle = colours.page;
    const pages = (width * pageBytes) / bytes;
    if (pages > 0.2) context.fillRect(x + width - pages, y, pages, height);
  }
  for (const read of reads) {
    const at =
      read.kind === "manifest" ? undefined : pixelsOf(boxes, read, LEAST);
    if (!at) continue;
    context.fillStyle = colours[read.ok ? read.from : "failed"];
    context.fillRect(at.x, y, at.width, height);
  }
}
