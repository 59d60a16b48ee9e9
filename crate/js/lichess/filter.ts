// Filters of the opening explorer, as buckets of a book.

import type { BookBucket } from "../shared/types.js";

/** A question that is answered with an error. */
export class Refusal {
  constructor(
    readonly message: string,
    readonly status = 400,
  ) {}
}

const SPEEDS = [
  "ultraBullet",
  "bullet",
  "blitz",
  "rapid",
  "classical",
  "correspondence",
];
/** Lowest ratings of the groups of Lichess. A group ends below the next group. */
const RATINGS = [
  "0",
  "1000",
  "1200",
  "1400",
  "1600",
  "1800",
  "2000",
  "2200",
  "2500",
];

/** The games that a question wants. */
export interface Filter {
  /** Wanted speeds; `undefined` for all. */
  speeds: string[] | undefined;
  /** Wanted groups of ratings; `undefined` for all. */
  ratings: string[] | undefined;
  /** First year; a later month of the year is a fraction. */
  since: number;
  /** Last year; an earlier month of the year is a fraction. */
  until: number;
}

/** Reads the filter of a question. Throws a {@link Refusal} if a value is invalid. */
export function filterOf(value: (name: string) => string | undefined): Filter {
  const list = (name: string, known: string[]) => {
    const words = value(name)
      ?.split(",")
      .filter((word) => word !== "");
    const wrong = words?.find((word) => !known.includes(word));
    if (wrong !== undefined)
      throw new Refusal(
        `${name}: expected ${known.join(", ")}, found ${JSON.stringify(wrong)}`,
      );
    // An empty list filters nothing, and a list of all values wants all games.
    return words?.length && known.some((word) => !words.includes(word))
      ? words
      : undefined;
  };
  const year = (name: string, unlimited: number, wholeYear: number) => {
    const text = value(name);
    if (!text) return unlimited;
    const [, year, month = wholeYear] =
      /^(\d{4})(?:-(0[1-9]|1[0-2]))?$/.exec(text) ?? [];
    if (!year)
      throw new Refusal(
        `${name}: expected a year or a month such as 2016-01, found ${JSON.stringify(text)}`,
      );
    return Number(year) + (Number(month) - wholeYear) / 12;
  };
  return {
    speeds: list("speeds", SPEEDS),
    ratings: list("ratings", RATINGS),
    since: year("since", -Infinity, 1),
    until: year("until", Infinity, 12),
  };
}

/**
 * Returns the names of the buckets with wanted games, or `undefined` for all buckets. `inexact` has the names of the parameters
 * that divide a bucket: all games of the bucket count.
 */
export function bucketsOf(
  buckets: BookBucket[],
  { speeds, ratings, since, until }: Filter,
): { names: string[] | undefined; inexact: string[] } {
  const inexact = new Set<string>();
  // A book without buckets has all games in a single bucket.
  const all: BookBucket[] = buckets.length > 0 ? buckets : [{ name: "" }];
  const chosen = all.filter((bucket) => {
    const divided = new Set<string>();
    // A bucket without a speed, rating or year has games of all values, or of an unknown value if other buckets have a value.
    const isUnknown = (name: "speed" | "ratings" | "years") =>
      !bucket[name] && all.some((other) => other[name]);
    if (speeds) {
      if (bucket.speed ? !speeds.includes(bucket.speed) : isUnknown("speed"))
        return false;
      if (!bucket.speed) divided.add("speeds");
    }
    if (ratings) {
      const [least, most] = bucket.ratings ?? [];
      const groups = RATINGS.filter(
        (group, n) =>
          Number(group) <= (most ?? Infinity) &&
          Number(RATINGS[n + 1] ?? Infinity) > (least ?? 0),
      );
      if (
        isUnknown("ratings") ||
        !groups.some((group) => ratings.includes(group))
      )
        return false;
      if (!groups.every((group) => ratings.includes(group)))
        divided.add("ratings");
    }
    if (since > -Infinity || until < Infinity) {
      const [first, last] = bucket.years ?? [];
      const [from, to] = [first ?? -Infinity, last ?? Infinity];
      if (
        isUnknown("years") ||
        to < Math.floor(since) ||
        from > Math.ceil(until)
      )
        return false;
      if (from < since) divided.add("since");
      if (to > until) divided.add("until");
    }
    for (const name of divided) inexact.add(name);
    return true;
  });
  return {
    names:
      chosen.length === all.length ? undefined : chosen.map(({ name }) => name),
    inexact: [...inexact],
  };
}
