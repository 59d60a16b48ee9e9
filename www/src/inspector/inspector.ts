/** The panel of a page's reads: byte ranges, their files, and their source. */
import "./inspector.css";
import type { FetchedRange, Manifest, Stats } from "shelfish";
import { duration, plural, size } from "../text/units";
import { make } from "../shell/dom";
import { whenIdle } from "../loading/idle";
import { type Palette, Strip } from "./strip";
import { type Read, Traffic } from "./traffic";

/** Colours of the legend with their labels. */
const LEGEND: readonly (readonly [keyof Palette, string])[] = [
  ["network", "host"],
  ["indexedDB", "IndexedDB"],
  ["file", "not read"],
];

export class Inspector {
  readonly #traffic = new Traffic();
  readonly #strip: Strip;
  readonly #swatches = {} as Record<keyof Palette, HTMLElement>;
  readonly #totals = make("p", {
    className: "totals",
    "data-testid": "traffic-totals",
  });
  readonly #where = make("p", { className: "where" });
  readonly #figures = make("dl", { className: "figures" });
  readonly #rows = make("tbody");
  readonly #list: HTMLDetailsElement;
  readonly #summary = make("summary", {}, "The last requests");
  /** The read that is enlarged: the last read, or the row under the pointer. */
  #focus: Read | undefined;
  #scheduled = false;
  #fresh: Read[] = [];

  constructor(host: HTMLElement) {
    const legend = make("p", { className: "legend" });
    for (const [name, words] of [
      ...LEGEND,
      ["page", ""],
      ["failed", ""],
    ] as const) {
      const swatch = make("i", { className: `swatch ${name}` });
      this.#swatches[name] = swatch;
      const item = make("span", { hidden: !words }, swatch, words);
      legend.append(item);
    }
    this.#strip = new Strip(() => this.#palette());
    const headings = ["", "File", "Bytes", "Size", "Time", "From", "What"].map(
      (text) =>
        make(
          "th",
          { scope: "col" },
          text || make("span", { className: "hidden" }, "Number"),
        ),
    );
    const caption = make(
      "caption",
      { className: "hidden" },
      "The last requests, newest first",
    );
    const table = make(
      "table",
      {},
      caption,
      make("thead", {}, make("tr", {}, ...headings)),
      this.#rows,
    );
    const scroller = make(
      "div",
      {
        className: "scroller",
        tabIndex: 0,
        role: "region",
        "aria-label": "The last requests",
      },
      table,
    );
    this.#list = make(
      "details",
      { className: "requests" },
      this.#summary,
      scroller,
    );
    this.#list.addEventListener("toggle", () => this.#fill());
    host.append(
      make(
        "div",
        { className: "inspector" },
        this.#totals,
        this.#strip.element,
        this.#where,
        legend,
        this.#figures,
        this.#list,
      ),
    );
    this.#rows.addEventListener("pointerover", ({ target }) =>
      this.#point(target),
    );
    this.#rows.addEventListener("pointerleave", () => this.#point(null));
    // The observer also reports when the panel becomes visible.
    new ResizeObserver(() => this.#schedule()).observe(this.#strip.element);
    const recolour = () => this.#schedule();
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      recolour,
    );
    new MutationObserver(recolour).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
  }

  open(manifest: Manifest): void {
    this.#traffic.manifest = manifest;
    this.#strip.open(manifest.shards);
    this.#schedule();
  }

  /** Adds a read, as reported by the package's `onRequest`. */
  request(request: FetchedRange): void {
    this.#fresh.push(this.#traffic.add(request));
    this.#schedule();
  }

  /** Updates the database's counters. */
  count(stats: Stats): void {
    this.#traffic.stats = stats;
    this.#schedule();
  }

  /** Redraws the panel when the page is idle. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const show = () => {
      this.#scheduled = false;
      if (this.#strip.isSeen) this.#show();
    };
    whenIdle(show);
  }

  #show(): void {
    const { manifest, stats, largest, bytes, requests, last, ranges } =
      this.#traffic;
    const whole = manifest ? ` of ${size(manifest.bytes)}` : "";
    this.#totals.replaceChildren(
      make("strong", {}, size(bytes)),
      `${whole}, `,
      make("strong", {}, plural(requests, "request")),
      ", no server",
    );
    const figures: [string, string][] = [
      ["From host", (stats?.networkBlocks ?? 0).toLocaleString("en")],
      ["IndexedDB", (stats?.indexedDBHits ?? 0).toLocaleString("en")],
      ["Memory", (stats?.memoryHits ?? 0).toLocaleString("en")],
      ["Largest", largest ? size(largest.bytes) : "–"],
    ];
    this.#figures.replaceChildren(
      ...figures.map(([name, value]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, value)),
      ),
    );
    this.#summary.textContent = `The last ${plural(last.length, "request")}`;
    this.#draw();
    for (const read of this.#fresh.slice(-LIT)) this.#strip.light(read);
    this.#fresh = [];
    this.#strip.element.dataset.ranges = String(ranges.size);
    this.#fill();
  }

  #draw(): void {
    const { ranges, last, manifest } = this.#traffic;
    const isInFile = ({ kind }: Read) => kind !== "manifest";
    const focus = [this.#focus, ...last].find((read) => read && isInFile(read));
    const label =
      manifest &&
      `${plural(manifest.shards.length, "file")} to scale, and the ${plural(ranges.size, "range")} of them that were read`;
    const detail = this.#strip.draw(ranges.values(), focus, label);
    this.#where.textContent = !focus
      ? "Nothing was read of the files yet."
      : `${detail ? `${times(detail, manifest)}: ` : ""}${parts(focus)}, ${bytesOf(focus)} of ${short(focus.file)}`;
  }

  #point(target: EventTarget | null): void {
    const number =
      target instanceof Element
        ? target.closest<HTMLElement>("tr")?.dataset.number
        : undefined;
    this.#focus = this.#traffic.last.find(
      (read) => String(read.number) === number,
    );
    this.#draw();
  }

  #fill(): void {
    if (!this.#list.open) return;
    const rows = this.#traffic.last.map((read) => {
      const cells = [
        make("td", {}, String(read.number)),
        make(
          "td",
          { title: read.url },
          read.kind === "manifest" ? "manifest" : read.file.slice(0, 8),
        ),
        make(
          "td",
          {},
          read.kind === "manifest"
            ? "all"
            : `${read.start.toLocaleString("en")}–${(read.end - 1).toLocaleString("en")}`,
        ),
        make("td", {}, read.ok ? size(read.bytes) : "failed"),
        make("td", {}, duration(read.milliseconds)),
        make(
          "td",
          {},
          make("i", { className: `swatch ${read.ok ? read.from : "failed"}` }),
          read.from === "network" ? "host" : "IndexedDB",
        ),
        make("td", {}, parts(read)),
      ];
      const row = make("tr", {}, ...cells);
      row.dataset.number = String(read.number);
      return row;
    });
    this.#rows.replaceChildren(...rows);
  }

  #palette(): Palette {
    const colour = (name: keyof Palette) =>
      getComputedStyle(this.#swatches[name]).backgroundColor;
    return {
      file: colour("file"),
      page: colour("page"),
      network: colour("network"),
      indexedDB: colour("indexedDB"),
      failed: colour("failed"),
    };
  }
}

/** Maximum number of new ranges that light up at once. */
const LIT = 24;

/** Shortens the name of a file to its first digits. */
export const short = (file: string): string =>
  file.replace(/^([0-9a-f]{8})[0-9a-f]{24}(\.\w+)$/, "$1…$2");

const bytesOf = ({ start, end }: Read): string =>
  `bytes ${start.toLocaleString("en")} to ${(end - 1).toLocaleString("en")}`;

const parts = ({ kind, parts: count }: Read): string =>
  kind === "manifest" ? "the manifest" : plural(count, kind);

/** Returns how much the enlarged part is magnified. */
function times(
  detail: { start: number; end: number },
  manifest: Manifest | undefined,
): string {
  const factor = Math.round(
    (manifest?.bytes ?? 0) / (detail.end - detail.start),
  );
  return `${factor.toLocaleString("en")} ×`;
}
