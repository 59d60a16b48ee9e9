// Opens books with the module of books.

import { connect } from "../shared/connect.js";
import { enter } from "../shared/errors.js";
import type { OpenOptions, Source } from "../shared/types.js";
import { imports, open, start } from "../shelfish_book.js";
import { Book } from "./book.js";

export * from "./book.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/book",
  file: "shelfish_book_bg.wasm",
  call: "openBook(url, { wasm })",
};

/**
 * Opens a book of `shelfish book build GAMES.pgn` by the URL of its `manifest.json`, or of its folder with a slash at the end. In
 * Node also by the path of a folder. The options are those of `openDatabase`.
 *
 * The first call loads the WASM module, which is not the module of evaluations.
 *
 * Rejects with a {@link ShelfishError}, with code `manifest` if the URL has a database of evaluations.
 */
export function openBook(
  book: string | URL | Source,
  options?: OpenOptions,
): Promise<Book> {
  return enter(async () =>
    Book.of(await connect("openBook", MODULE, open, book, options)),
  );
}
