// For Node, Deno and Bun: opens folders too.

import {
  adapter,
  type LichessFetch,
  type LichessOptions,
} from "./lichess/lichess.js";

export type { LichessFetch, LichessOptions } from "./lichess/lichess.js";

/** Returns a function with the signature of `fetch`. See the entry for browsers. */
export const lichessFetch = (options: LichessOptions): LichessFetch =>
  adapter(
    {
      database: async (url) => (await import("./node.js")).openDatabase(url),
      book: async (url) => (await import("./node.js")).openBook(url),
      openings: () => import("./openings.js"),
      moves: () => import("./lichess-moves.js"),
    },
    options,
  );

/** Loads the names of openings by position, whatever moves led to the position: 35 kB in Brotli. */
export const openingNames = (): Promise<typeof import("./openings.js")> =>
  import("./openings.js");
