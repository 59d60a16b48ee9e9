// The entry `shelfish/lichess`: answers requests to the APIs of Lichess from static databases. In Node it opens folders too.

import {
  adapter,
  type LichessFetch,
  type LichessOptions,
} from "./lichess/adapter.js";

export type { LichessFetch, LichessOptions };

/**
 * Returns a function with the signature of `fetch`, which answers requests to Lichess' cloud evaluation, opening explorer and
 * tablebase from static files. It sends all other requests.
 *
 * Throws a `ShelfishError` if an option is wrong. A database that cannot be read is an answer with status 502.
 *
 * ```js
 * globalThis.fetch = lichessFetch({ database: "https://example.org/evals/", book: "https://example.org/book/" });
 * ```
 */
export const lichessFetch = (options: LichessOptions): LichessFetch =>
  adapter(
    async () => ({
      ...(await import("./index.js")),
      openEndgames: async (...call) =>
        (await import("./endgames.js")).openEndgames(...call),
    }),
    options,
  );

/** Loads the names of openings by position, whatever moves led to the position: 35 kB in Brotli. */
export const openingNames = (): Promise<typeof import("./openings.js")> =>
  import("./openings.js");
