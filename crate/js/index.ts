// The entry `shelfish`: opens databases and books. `build.mjs` adds the place of the module.

import { connect } from "./shared/connect.js";
import { enter } from "./shared/errors.js";
import { PREBUNDLED } from "./shared/load.js";
import type { OpenOptions, Source } from "./shared/types.js";
import { imports, open, start } from "./shelfish.js";
import { Book } from "./database/book.js";
import { Database } from "./database/database.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "./shared/errors.js";
export {
  scoreAfter,
  type ScoreLike,
  scoreText,
  winningChances,
} from "./shared/score.js";
export type * from "./shared/types.js";
export { Book, Database };

/** Opens a database or a book. */
function opened(
  call: "openDatabase" | "openBook",
  url: string | URL | Source,
  options: OpenOptions | undefined,
): Promise<object> {
  const module = {
    imports,
    start,
    entry: "shelfish",
    file: "shelfish_bg.wasm",
    call: `${call}(url, { wasm })`,
  };
  const isBook = call === "openBook";
  return connect(
    call,
    module,
    (...files) => open(isBook, ...files),
    url,
    options,
  );
}

/**
 * Opens a database by the URL of its `manifest.json`, or of its folder with a slash at the end: absolute, or relative to
 * the page. In Node also by the path of a folder or a `file:` URL. Also opens any {@link Source}.
 *
 * The first call loads the WASM module. If there is no connection, the last manifest in IndexedDB and all cached blocks
 * are used.
 *
 * Rejects with a {@link ShelfishError}, with code `manifest` if the URL has a book.
 */
export function openDatabase(
  database: string | URL | Source,
  options?: OpenOptions,
): Promise<Database> {
  return enter(
    async () => new Database(await opened("openDatabase", database, options)),
  );
}

/**
 * Opens a book of `shelfish book build GAMES.pgn`, like {@link openDatabase}.
 *
 * Rejects with a {@link ShelfishError}, with code `manifest` if the URL has a database of evaluations.
 */
export function openBook(
  book: string | URL | Source,
  options?: OpenOptions,
): Promise<Book> {
  return enter(async () => new Book(await opened("openBook", book, options)));
}

/**
 * Returns the URL of the sample database in this package: openings up to 13 plies and famous games, 15,000 positions. Bundlers do not
 * copy its files: `npx shelfish sample public/evals` copies them.
 */
export function sample(): URL {
  const file = "sample/manifest.json";
  const [, root] = PREBUNDLED.exec(import.meta.url) ?? [];
  // Bundlers would replace `new URL("…", import.meta.url)` by a copy of the manifest without the other files.
  const folder = new URL(".", import.meta.url);
  return new URL(
    root === undefined ? file : `${root}node_modules/shelfish/${file}`,
    folder,
  );
}
