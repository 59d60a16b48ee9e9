// Opens databases with the module of evaluations.

import { connect } from "../shared/connect.js";
import { enter } from "../shared/errors.js";
import type { OpenOptions, Source } from "../shared/types.js";
import { imports, open, start } from "../shelfish.js";
import { Database } from "./database.js";

export * from "./database.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish",
  file: "shelfish_bg.wasm",
  call: "openDatabase(url, { wasm })",
};

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
  return enter(async () =>
    Database.of(await connect("openDatabase", MODULE, open, database, options)),
  );
}
