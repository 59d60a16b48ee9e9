/** The choice of buckets: speeds and rating bands, each on or off. */
import type { BookBucket } from "shelfish/book";
import { byId, make } from "../shell/dom";

const SPEEDS: Record<string, string> = {
  ultraBullet: "UltraBullet",
  bullet: "Bullet",
  blitz: "Blitz",
  rapid: "Rapid",
  classical: "Classical",
  correspondence: "Correspondence",
};

/** Returns the names of a bucket's speed and rating band. */
const parts = ({ speed, ratings }: BookBucket): [speed: string, band: string] => {
  const [least, most] = ratings ?? [null, null];
  const band = least === null ? (most === null ? "No rating" : `Below ${most + 1}`) : most === null ? `${least} and more` : `${least}–${most}`;
  return [speed ? (SPEEDS[speed] ?? speed) : "No time control", band];
};

/** Buttons that switch buckets, drawn once the book is open. */
export class BucketChoice {
  /** Speeds and bands that are switched off. */
  private readonly off = new Set<string>();
  private buckets: readonly BookBucket[] = [];

  /** `change` is called after each change of the choice. */
  constructor(private readonly change: () => void) {}

  /** Draws the buttons for a book's buckets, once. */
  draw(buckets: readonly BookBucket[]): void {
    if (this.buckets.length > 0 || buckets.length < 2) return;
    this.buckets = buckets;
    const groups = ([["Speed", 0], ["Rating", 1]] as const).map(([title, at]) => {
      const names = [...new Set(buckets.map((bucket) => parts(bucket)[at]))];
      if (names.length < 2) return "";
      return make("div", { role: "group", "aria-label": title }, ...names.map((name) => this.button(at, name)));
    });
    byId("buckets").replaceChildren(...groups.filter((group) => group !== ""));
    byId("buckets").hidden = false;
  }

  /** Names of the selected buckets; `undefined` if all are selected. */
  get chosen(): string[] | undefined {
    if (this.off.size === 0) return undefined;
    const isOn = (bucket: BookBucket) => parts(bucket).every((part, at) => !this.off.has(`${at} ${part}`));
    return this.buckets.filter(isOn).map(({ name }) => name);
  }

  private button(at: 0 | 1, name: string): HTMLElement {
    const button = make("button", { type: "button", "aria-pressed": "true" }, name);
    button.addEventListener("click", () => {
      const key = `${at} ${name}`;
      if (!this.off.delete(key)) this.off.add(key);
      button.setAttribute("aria-pressed", String(!this.off.has(key)));
      this.change();
    });
    return button;
  }
}
