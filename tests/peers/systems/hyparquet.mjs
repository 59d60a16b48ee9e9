// Parquet in plain JavaScript.
import { asyncBufferFromUrl, cachedAsyncBuffer, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { gunzip } from "../node_modules/hyparquet-compressors/src/gzip.js";

const compressors = { GZIP: (input, length) => gunzip(input, new Uint8Array(length)) };

/** @type {import("hyparquet").AsyncBuffer} */
let file;
/** @type {import("hyparquet").FileMetaData} */
let metadata;

/** Loads the library and runs it once. */
export async function prepare({ tiny }, fen) {
  await open(tiny);
  await lookup(fen);
}

/** Without the lengths of file and footer it would ask for the one and guess the other. */
export async function open({ url, bytes, footer }) {
  const host = await asyncBufferFromUrl({ url, byteLength: bytes, requestInit: { cache: "no-store" } });
  file = cachedAsyncBuffer(host, { minSize: 0 });
  metadata = await parquetMetadataAsync(file, { initialFetchSize: footer });
}

export async function lookup(fen) {
  const filter = { fen: { $eq: fen } };
  const [row] = await parquetReadObjects({ file, metadata, compressors, filter, usePageIndex: true });
  return row ? JSON.parse(row.evals) : null;
}

/** Side by side: what two of them need is fetched once. One `$in` compares every position with every page, for seconds. */
export const many = (fens) => Promise.all(fens.map(lookup));
