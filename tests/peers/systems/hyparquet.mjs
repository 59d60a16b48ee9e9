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
export async function open({ hyparquet: { url, bytes, footer } }) {
  const host = await asyncBufferFromUrl({ url, byteLength: bytes, requestInit: { cache: "no-store" } });
  file = cachedAsyncBuffer(host, { minSize: 0 });
  metadata = await parquetMetadataAsync(file, { initialFetchSize: footer });
}

const read = (filter) => parquetReadObjects({ file, metadata, compressors, filter, usePageIndex: true });

export async function lookup(fen) {
  const [row] = await read({ fen: { $eq: fen } });
  return row ? JSON.parse(row.evals) : null;
}

export async function many(fens) {
  const found = new Map((await read({ fen: { $in: fens } })).map(({ fen, evals }) => [fen, evals]));
  return fens.map((fen) => (found.has(fen) ? JSON.parse(found.get(fen)) : null));
}
