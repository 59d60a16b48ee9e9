// SQLite in a worker, its pages fetched by range.
import { createDbWorker } from "sql.js-httpvfs";

/** @type {Awaited<ReturnType<typeof createDbWorker>>} */
let worker;
let schema = "main";

const config = ({ url, pageSize }, virtualFilename) => ({
  from: "inline",
  virtualFilename,
  config: { serverMode: "full", url, requestChunkSize: pageSize },
});
const start = (configs) =>
  createDbWorker(configs, "sqlite.worker.js", "sql-wasm.wasm");

/** Loads and compiles the library, and runs it once. The worker needs the paths of both files when it starts. */
export async function prepare({ tiny, big }, fen) {
  worker = await start([config(tiny, "tiny"), config(big, "big")]);
  await lookup(fen);
}

/** A running worker attaches the file, which reads the same parts of it as opening it. */
export async function open(file) {
  if (!worker) return void (worker = await start([config(file, "big")]));
  await worker.db.exec("ATTACH DATABASE 'big' AS big");
  schema = "big";
}

export async function lookup(fen) {
  const [answer] = await worker.db.exec(
    `SELECT evals FROM ${schema}.evals WHERE fen = ?`,
    [fen],
  );
  return answer ? JSON.parse(answer.values[0][0]) : null;
}

export async function many(fens) {
  const marks = fens.map(() => "?").join();
  const [answer] = await worker.db.exec(
    `SELECT fen, evals FROM ${schema}.evals WHERE fen IN (${marks})`,
    fens,
  );
  const found = new Map(answer?.values);
  return fens.map((fen) =>
    found.has(fen) ? JSON.parse(found.get(fen)) : null,
  );
}
