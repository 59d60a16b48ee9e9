// Parquet in plain JavaScript.
import {
  asyncBufferFromUrl,
  cachedAsyncBuffer,
  parquetMetadataAsync,
  parquetReadObjects,
} from "hyparquet";
import { gunzip } from "../node_modules/hyparquet-compressors/src/gzip.js";

const compressors = {
  GZIP: (input, length) => gunzip(input, new Uint8Array(length)),
};

/** @type {import("hyparquet").AsyncBuffer} */
let file;
/** @type {import("hyparquet").FileMetaData} */
let metadata;

/** Loads the library and runs it once. */
export async function prepare({ tiny }, fen) {
  await open(tiny);
  await lookup(fen);
}

/** Receives the lengths of the file and of the footer. Without them, hyparquet requests the first and guesses the second. */
export async function open({ url, bytes, footer }) {
  const host = await asyncBufferFromUrl({
    url,
    byteLength: bytes,
    requestInit: { cache: "no-store" },
  });
  file = cachedAsyncBuffer(host, { minSize: 0 });
  metadata = await parquetMetadataAsync(file, { initialFetchSize: footer });
}

export async function lookup(fen) {
  const filter = { fen: { $eq: fen } };
  const [row] = await parquetReadObjects({
    file,
    metadata,
    compressors,
    filter,
    usePageIndex: true,
  });
  return row ? JSON.parse(row.evals) : null;
}

/** Looks all positions up at the same time: shared parts are fetched once. A `$in` compares every position with every page, which takes seconds. */
export const many = (fens) => Promise.all(fens.map(lookup));
