// For browsers: the parts are files next to the JavaScript.

import { adapter } from "./lichess.js";
import type { LichessFetch, LichessOptions } from "./types.js";

export type * from "./types.js";

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
      book: async (url) => (await import("./book.js")).openBook(url),
      openings: () => import("./openings.js"),
      moves: () => import("./lichess-moves.js"),
    },
    options,
  );
