// DuckDB in a worker, over Parquet.
import {
  AsyncDuckDB,
  DuckDBDataProtocol,
  VoidLogger,
} from "@duckdb/duckdb-wasm";

/** @type {AsyncDuckDB} */
let database;
/** @type {import("@duckdb/duckdb-wasm").AsyncDuckDBConnection} */
let connection;
/** @type {import("@duckdb/duckdb-wasm").AsyncPreparedStatement} */
let statement;

async function start() {
  database = new AsyncDuckDB(
    new VoidLogger(),
    new Worker("duckdb-browser-eh.worker.js"),
  );
  await database.instantiate(new URL("duckdb-eh.wasm", location.href).href);
  await database.open({ filesystem: { allowFullHTTPReads: false } });
  connection = await database.connect();
  // Reads the footer once, not for every query.
  await connection.query("SET enable_object_cache = true");
}

/** Loads and compiles the library, and runs it once. */
export async function prepare({ tiny }, fen) {
  await start();
  await open(tiny, "tiny");
  await lookup(fen);
}

export async function open({ url }, name = "big") {
  if (!database) await start();
  await database.registerFileURL(
    `${name}.parquet`,
    url,
    DuckDBDataProtocol.HTTP,
    false,
  );
  statement = await connection.prepare(
    `SELECT evals FROM read_parquet('${name}.parquet') WHERE fen = ?`,
  );
}

export async function lookup(fen) {
  const row = (await statement.query(fen)).get(0);
  return row ? JSON.parse(row.evals) : null;
}

/** Runs one query for each position. DuckDB does not compare an `IN` with the statistics of row groups and would read the whole file. */
export async function many(fens) {
  const answers = [];
  for (const fen of fens) answers.push(await lookup(fen));
  return answers;
}
