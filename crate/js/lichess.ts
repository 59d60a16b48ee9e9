// For browsers: the parts are files next to the JavaScript.

import {
  adapter,
  type LichessFetch,
  type LichessOptions,
} from "./lichess/lichess.js";

export type { LichessFetch, LichessOptions } from "./lichess/lichess.js";

/**
 * Returns a function with the signature of `fetch`, which answers requests to Lichess' cloud evaluation and opening explorer from
 * static databases. It sends all other requests.
 *
 * Throws a `ShelfishError` if an option is wrong. A database that cannot be read is an answer with status 502.
 *
 * ```js
 * globalThis.fetch = lichessFetch({ database: "https://example.org/evals/", book: "https://example.org/book/" });
 * ```
 */
export const lichessFetch = (options: LichessOptions): LichessFetch =>
  adapter(
    {
      database: async (url) => (await import("./index.js")).openDatabase(url),
      book: async (url) => (await import("./index.js")).openBook(url),
      openings: () => import("./openings.js"),
      moves: () => import("./lichess-moves.js"),
    },
    options,
  );

/** Loads the names of openings by position, whatever moves led to the position: 35 kB in Brotli. */
export const openingNames = (): Promise<typeof import("./openings.js")> =>
  import("./openings.js");
