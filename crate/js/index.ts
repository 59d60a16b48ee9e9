// The entry `shelfish`: opens databases and books. `build.mjs` adds the place of the module.

import { connect } from "./shared/connect.js";
import { enter } from "./shared/errors.js";
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

/** The source of the URL that {@link sample} has returned. */
let sampleSource: Source | undefined;

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
    String(url) === sampleSource?.url ? sampleSource : url,
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
  return enter(
    async () => new Book(await opened("openBook", book, options), openDatabase),
  );
}

/**
 * Returns the URL of the sample database in this package: openings up to 14 plies and famous games, 16,000 positions. It works with every
 * toolchain: the first lookup loads a script of 330 kB. `npx shelfish sample public/evals` copies the files, which pages read by ranges.
 */
export function sample(): URL {
  // Toolchains and hosts find scripts, but not files. A bundle without this function does not contain the script.
  const read = async (file: string) => {
    // @ts-expect-error The build writes this file.
    const { default: files } = await import("./sample-text.js");
    return Uint8Array.from(atob(files[file]), (byte) => byte.charCodeAt(0));
  };
  sampleSource = {
    url: "sample:/",
    whole: read,
    range: async (file, start, end) => (await read(file)).subarray(start, end),
  };
  return new URL(sampleSource.url);
}
