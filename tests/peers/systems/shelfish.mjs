// This product, as a page uses it.
import { openDatabase } from "shelfish";

/** @type {import("shelfish").Database} */
let database;

const CHESS960 = /** @type {const} */ ({ castling: "chess960" });

/** Loads and compiles the library, and runs it once. */
export async function prepare({ tiny }, fen) {
  await open(tiny);
  await lookup(fen);
  database.close();
}

export async function open({ url }) {
  database = await openDatabase(url, { indexedDB: false });
}

export const lookup = (fen) => database.lookup(fen, CHESS960);

export const many = (fens) => database.lookupMany(fens, CHESS960);
