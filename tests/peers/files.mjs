// Writes the files of the peers, each in the best layout for its reader: files.mjs --out DIR DUMP...
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { fileWriter, parquetWriteRows } from "hyparquet-writer";
import sqlite from "node-sqlite3-wasm";
import { distinct, full, records } from "./dump.mjs";

const { values, positionals } = parseArgs({
  options: { out: { type: "string" } },
  allowPositionals: true,
});
const out = String(values.out);

/** Size of a page, which is one request. Large pages make a shallow tree, small pages arrive sooner. */
const SQLITE_PAGE = 32_768;

/** Rows of a row group. DuckDB reads whole row groups; two steps of its read-ahead fetch this number of rows. */
const DUCKDB_GROUP = 2_048;

/** Rows of a row group. hyparquet reads pages by the index of their row group; footer, index and page have similar sizes. */
const HYPARQUET_GROUP = 36_864;
const HYPARQUET_PAGE = 16_384;

/** @type {string[]} each a FEN, a tab, evaluations: ASCII, so this order is also the order of bytes */
const rows = [];
for await (const { fen, evals } of records(positionals))
  rows.push(`${fen}\t${JSON.stringify(evals)}`);
rows.sort();
console.log(`${rows.length} positions`);

/** Returns the evaluations of one position as a row. */
function* merged(count = Infinity) {
  let [last, text] = ["", ""];
  for (const row of rows) {
    const tab = row.indexOf("\t");
    const [fen, evals] = [row.slice(0, tab), row.slice(tab + 1)];
    if (fen === last) {
      text = JSON.stringify(
        distinct([...JSON.parse(text), ...JSON.parse(evals)]),
      );
      continue;
    }
    if (last) {
      if (count-- === 0) return;
      yield { fen: last, evals: text };
    }
    [last, text] = [fen, evals];
  }
  if (count > 0 && last) yield { fen: last, evals: text };
}

function writeSqlite(path, count) {
  for (const suffix of ["", ".lock", "-journal"])
    rmSync(path + suffix, { recursive: true, force: true });
  const database = new sqlite.Database(path);
  database.exec(
    `PRAGMA page_size = ${SQLITE_PAGE}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF`,
  );
  database.exec(
    "CREATE TABLE evals (fen TEXT PRIMARY KEY, evals TEXT NOT NULL) WITHOUT ROWID",
  );
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO evals VALUES (?, ?)");
  for (const { fen, evals } of merged(count)) insert.run([fen, evals]);
  insert.finalize();
  database.exec("COMMIT");
  // Packs the pages.
  database.exec("VACUUM");
  database.close();
  return { pageSize: SQLITE_PAGE };
}

function writeParquet(path, count, fen, options) {
  parquetWriteRows({
    writer: fileWriter(path),
    rows: merged(count),
    columns: [
      {
        name: "fen",
        type: "STRING",
        nullable: false,
        encoding: "DELTA_BYTE_ARRAY",
        ...fen,
      },
      {
        name: "evals",
        type: "STRING",
        nullable: false,
        encoding: "PLAIN",
        statistics: false,
      },
    ],
    codec: "GZIP",
    compressors: {
      GZIP: (input) => new Uint8Array(gzipSync(input, { level: 9 })),
    },
    ...options,
  });
  // The length of the footer precedes the last four bytes.
  return {
    footer: readFileSync(path).readUInt32LE(statSync(path).size - 8) + 8,
  };
}

const LAYOUTS = {
  sqlite: ["evals.sqlite", writeSqlite],
  duckdb: [
    "duckdb.parquet",
    (path, count) =>
      writeParquet(
        path,
        count,
        { offsetIndex: false },
        { rowGroupSize: DUCKDB_GROUP, statisticsTruncateLength: 64 },
      ),
  ],
  hyparquet: [
    "hyparquet.parquet",
    (path, count) =>
      writeParquet(
        path,
        count,
        { columnIndex: true, offsetIndex: true },
        {
          rowGroupSize: HYPARQUET_GROUP,
          pageSize: HYPARQUET_PAGE,
          statisticsTruncateLength: 40,
        },
      ),
  ],
};

/** @type {Record<string, unknown>} */
const made = { positions: 0, big: {}, tiny: {} };
for (const _ of merged()) made.positions++;
for (const [size, count] of [
  ["tiny", 100],
  ["big", Infinity],
]) {
  mkdirSync(join(out, size), { recursive: true });
  for (const [name, [file, write]] of Object.entries(LAYOUTS)) {
    const path = join(out, size, file);
    const began = Date.now();
    const details = write(path, count);
    made[size][name] = {
      file: `${size}/${file}`,
      bytes: statSync(path).size,
      ...details,
    };
    console.log(
      `${size} ${name}: ${statSync(path).size} bytes, ${Date.now() - began} ms`,
    );
  }
}
// The database of this product is built from the dumps. The tiny databases are only for warming up.
const tiny = [...merged(100)].map(({ fen, evals }) =>
  JSON.stringify({ fen, evals: JSON.parse(evals).map(full) }),
);
writeFileSync(join(out, "tiny", "tiny.jsonl"), `${tiny.join("\n")}\n`);
writeFileSync(join(out, "made.json"), JSON.stringify(made, null, 2));
