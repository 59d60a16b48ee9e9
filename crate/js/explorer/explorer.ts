// Databases and books by a single module, for explorers with evaluations.

import { Book } from "../book/book.js";
import { Database } from "../database/database.js";
import { connect } from "../shared/connect.js";
import { enter } from "../shared/errors.js";
import type { OpenOptions, Source } from "../shared/types.js";
import {
  imports,
  openBook as bookOf,
  openDatabase as databaseOf,
  start,
} from "../shelfish_explorer.js";

export * from "../book/book.js";
export * from "../database/database.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/explorer",
  file: "shelfish_explorer_bg.wasm",
};

/** Opens a database, like `openDatabase` of `shelfish`. */
export function openDatabase(
  database: string | URL | Source,
  options?: OpenOptions,
): Promise<Database> {
  const module = { ...MODULE, call: "openDatabase(url, { wasm })" };
  return enter(async () =>
    Database.of(
      await connect("openDatabase", module, databaseOf, database, options),
    ),
  );
}

/** Opens a book, like `openBook` of `shelfish/book`. */
export function openBook(
  book: string | URL | Source,
  options?: OpenOptions,
): Promise<Book> {
  const module = { ...MODULE, call: "openBook(url, { wasm })" };
  return enter(async () =>
    Book.of(await connect("openBook", module, bookOf, book, options)),
  );
}
