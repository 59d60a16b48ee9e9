// For Node, Deno and Bun: opens folders too.

import { adapter } from "./lichess.js";
import type { LichessFetch, LichessOptions } from "./types.js";

export type * from "./types.js";

/** Returns a function with the signature of `fetch`. See the entry for browsers. */
export const lichessFetch = (options: LichessOptions): LichessFetch =>
  adapter(
    {
      database: async (url) => (await import("./node.js")).openDatabase(url),
      book: async (url) => (await import("./book-node.js")).openBook(url),
      openings: () => import("./openings.js"),
      moves: () => import("./lichess-moves.js"),
    },
    options,
  );
