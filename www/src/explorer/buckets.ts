/** The choice of buckets: speeds, rating bands and periods, each on or off. */
import type { BookBucket } from "shelfish";
import { byId, make, readObject, writeString } from "../shell/dom";
import { capitalised } from "../text/words";

/** Key of the stored choice. */
const KEY = "filters";
/** Maximum number of stored names. */
const MAX_STORED = 200;

const TITLES = ["Speed", "Rating", "Years"] as const;

/** Returns the names of a bucket's speed, rating band and period. */
function parts({
  speed,
  ratings,
  years,
}: BookBucket): [speed: string, band: string, period: string] {
  const band = range(
    ratings,
    "No rating",
    (most) => `Below ${most + 1}`,
    (least) => `${least} and more`,
  );
  const period = range(
    years,
    "No date",
    (most) => `Before ${most + 1}`,
    (least) => `Since ${least}`,
  );
  return [speed ? capitalised(speed) : "No time control", band, period];
}

function range(
  [least, most]: [number | null, number | null] = [null, null],
  unknown: string,
  below: (most: number) => string,
  above: (least: number) => string,
): string {
  if (least === null) return most === null ? unknown : below(most);
  return most === null ? above(least) : `${least}–${most}`;
}

/** Buttons that switch buckets, drawn once the book is open. The choice is stored. */
export class BucketChoice {
  /** Speeds, bands and periods that are switched off, also those of other books. */
  private readonly off = new Set(storedNames());
  private isDrawn = false;
  /** The buckets of the book. */
  buckets: readonly BookBucket[] = [];

  /** `change` is called after each change of the choice. */
  constructor(
    private readonly change: () => void,
    private readonly isOpen: boolean,
  ) {}

  /** Draws the buttons for the book's buckets, once. */
  draw(): void {
    if (this.isDrawn || this.buckets.length < 2) return;
    this.isDrawn = true;
    const groups = TITLES.map((title, at) => {
      const names = this.names(at);
      return names.length < 2
        ? ""
        : make(
            "div",
            { role: "group", "aria-label": title },
            make("span", "title", title),
            ...names.map((name) => this.button(at, name)),
          );
    });
    byId("buckets").replaceChildren(...groups.filter((group) => group !== ""));
    this.describe();
    byId<HTMLDetailsElement>("filters").open = this.isOpen;
    byId("filters").hidden = false;
  }

  /** Names of the selected buckets; `undefined` if all are selected. */
  get chosen(): string[] | undefined {
    const on = this.buckets.filter((bucket) =>
      parts(bucket).every((part, at) => this.has(at, part)),
    );
    return on.length === this.buckets.length
      ? undefined
      : on.map(({ name }) => name);
  }

  /** Speeds, ratings and years of the games: "rated below 2200 to 2600 and more". */
  get extents(): string[] {
    return ["at", "rated", "from"].flatMap((word, at) => {
      const names = this.names(at).filter((name) => !/^No /.test(name));
      const [first, last] = [names[0], names.at(-1)];
      if (first === last) return [];
      const text = at === 0 ? names.join(", ") : `${first} to ${last}`;
      return [
        `${word} ${text.replace(/Since (\d+)/, "$1 and later")}`.toLowerCase(),
      ];
    });
  }

  private names(at: number): string[] {
    return [...new Set(this.buckets.map((bucket) => parts(bucket)[at] ?? ""))];
  }

  private has(at: number, name: string): boolean {
    return !this.off.has(`${at} ${name}`);
  }

  /** Says which games count. */
  private describe(): void {
    const limits = TITLES.flatMap((title, at) => {
      const names = this.names(at);
      const on = names.filter((name) => this.has(at, name));
      return on.length === names.length
        ? []
        : [`${title}: ${on.join(", ") || "none"}`];
    });
    byId("chosen").textContent = `Filters: ${limits.join(". ") || "all games"}`;
  }

  private button(at: number, name: string): HTMLElement {
    const button = make("button", { "aria-pressed": this.has(at, name) }, name);
    button.addEventListener("click", () => {
      const key = `${at} ${name}`;
      if (!this.off.delete(key)) this.off.add(key);
      button.setAttribute("aria-pressed", String(!this.off.has(key)));
      writeString(KEY, JSON.stringify({ off: [...this.off] }));
      this.describe();
      this.change();
    });
    return button;
  }
}

function storedNames(): string[] {
  const { off } = readObject(KEY);
  return Array.isArray(off)
    ? off.filter((name) => typeof name === "string").slice(0, MAX_STORED)
    : [];
}
