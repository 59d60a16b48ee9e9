/** The panel of a page's reads: the files of the database to scale, the byte ranges that were read, and a list of the last reads. */
import "./inspector.css";
import type { FetchedRange, Manifest, Stats } from "shelfish";
import { make } from "../shell/dom";
import { duration, plural, size } from "../text/words";

/** Number of reads that the list shows. */
const MAX_ROWS = 50;
/** Number of ranges that are drawn in the files. */
const MAX_MARKS = 2_000;

/** Returns the name of the file of a read. */
export const fileOf = ({ url }: FetchedRange): string =>
  decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));

/** Names the content of the bytes: the manifest, pages of the index, or blocks of positions. */
export function contentOf(
  read: FetchedRange,
  manifest: Manifest | undefined,
): string {
  if (read.parts === 0) return "the manifest";
  const shard = manifest?.shards.find(({ file }) => file === fileOf(read));
  const isPage = shard && read.start >= shard.bytes - shard.pageBytes;
  return plural(read.parts, isPage ? "page" : "block");
}

export class Inspector {
  #manifest: Manifest | undefined;
  readonly #totals = make("p", {
    className: "totals",
    "data-testid": "traffic-totals",
  });
  readonly #strip = make("div", { className: "strip", role: "img" });
  readonly #rows = make("tbody");

  constructor(host: HTMLElement) {
    const label = "The last requests";
    const headings = ["File", "Bytes", "Size", "Time", "From", "What"];
    const table = make(
      "table",
      { "aria-label": label },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...headings.map((text) => make("th", { scope: "col" }, text)),
        ),
      ),
      this.#rows,
    );
    const scroller = make(
      "div",
      {
        className: "scroller",
        tabIndex: 0,
        role: "region",
        "aria-label": label,
      },
      table,
    );
    host.append(
      make("div", { className: "inspector" }, this.#totals, this.#strip),
      scroller,
    );
  }

  /** Draws the files of the database to scale. */
  open(manifest: Manifest): void {
    this.#manifest = manifest;
    const files = manifest.shards.map(({ file, bytes }) => {
      const box = make("div", { "data-file": file });
      box.style.flexGrow = String(bytes);
      return box;
    });
    this.#strip.ariaLabel = `${plural(files.length, "file")} to scale, with the ranges that were read`;
    this.#strip.replaceChildren(...files);
  }

  /** Adds a read, as reported by the package's `onRequest`. */
  request(read: FetchedRange): void {
    const file = fileOf(read);
    const from = read.from === "network" ? "host" : "IndexedDB";
    const shard = this.#manifest?.shards.find((shard) => shard.file === file);
    const box = this.#strip.querySelector(`[data-file="${CSS.escape(file)}"]`);
    if (shard && box && box.childElementCount < MAX_MARKS) {
      const mark = make("i", { className: read.ok ? read.from : "failed" });
      mark.style.left = `${(100 * read.start) / shard.bytes}%`;
      mark.style.width = `${(100 * (read.end - read.start)) / shard.bytes}%`;
      box.append(mark);
    }
    const isWhole = read.parts === 0;
    const cells = [
      isWhole ? "manifest" : file.slice(0, 8),
      isWhole
        ? "all"
        : `${read.start.toLocaleString("en")}–${(read.end - 1).toLocaleString("en")}`,
      read.ok ? size(read.bytes) : "failed",
      duration(read.milliseconds),
      from,
      contentOf(read, this.#manifest),
    ];
    this.#rows.append(
      make("tr", {}, ...cells.map((text) => make("td", {}, text))),
    );
    if (this.#rows.childElementCount > MAX_ROWS)
      this.#rows.firstChild?.remove();
  }

  /** Shows the database's counters. */
  count({ bytes, requests }: Stats): void {
    const whole = this.#manifest ? ` of ${size(this.#manifest.bytes)}` : "";
    this.#totals.replaceChildren(
      make("strong", {}, size(bytes)),
      `${whole}, `,
      make("strong", {}, plural(requests, "request")),
      ", no server",
    );
  }
}
