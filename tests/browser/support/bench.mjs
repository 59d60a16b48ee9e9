// What the benchmarks share: options, a slow server, figures and tables.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createSecureServer } from "node:http2";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { serve } from "./serve.mjs";

const { values, positionals } = parseArgs({
  options: {
    db: { type: "string", default: "" },
    evals: { type: "string", default: "" },
    games: { type: "string", default: "" },
    files: { type: "string", default: "" },
    command: { type: "string", default: "" },
    count: { type: "string", default: "15" },
    latency: { type: "string", default: "50" },
    mbit: { type: "string", default: "20" },
    http: { type: "string", default: "1.1" },
  },
  allowPositionals: true,
});
export const [db, evals, games, files] = [
  values.db,
  values.evals,
  values.games,
  values.files,
].map((path) => resolve(path));
export const { command, latency, mbit, http } = values;
export const dumps = positionals;
/** The number of visits, positions or games. */
export const count = Number(values.count);
export const network = `${latency} ms a request, ${mbit} Mbit/s, HTTP/${http}`;

/** Starts a server that emulates the network. */
export const slow = async (/** @type {string} */ folder) =>
  spoken(
    await serve(folder, "--latency-ms", latency, "--bandwidth-mbit", mbit),
  );

/**
 * Lets a server speak the measured protocol: HTTP/2 by a proxy without a delay, so that each stream has the latency of a request.
 * @template {{ url: string }} T
 * @param {T} server
 */
export async function spoken(server) {
  if (http === "1.1") return server;
  const certify =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=bench -keyout - -out -";
  const pem = execFileSync("openssl", certify.split(" "), { stdio: "pipe" });
  const agent = new Agent({ keepAlive: true });
  const proxy = createSecureServer({ key: pem, cert: pem }, (from, to) => {
    const asked = Object.entries(from.headers);
    const headers = Object.fromEntries(
      asked.filter(([name]) => name[0] !== ":"),
    );
    const options = { agent, method: from.method, headers };
    const ask = request(new URL(from.url, server.url), options, (answer) => {
      for (const name of ["connection", "keep-alive", "transfer-encoding"])
        delete answer.headers[name];
      answer.pipe(to.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    // A page may ask while the benchmark ends.
    from.pipe(ask.on("error", () => to.stream.close()));
  });
  await once(proxy.listen(0, "127.0.0.1").unref(), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    proxy.address()
  );
  return { ...server, url: `https://127.0.0.1:${port}/` };
}

/**
 * Copies folders into a new folder, which is removed at the end of the process.
 * @param {Record<string, string>} parts source by its place in the folder
 */
export function copied(parts) {
  const root = mkdtempSync(join(tmpdir(), "shelfish-bench-"));
  process.on("exit", () => rmSync(root, { recursive: true }));
  for (const [place, source] of Object.entries(parts))
    cpSync(source, join(root, place), { recursive: true, dereference: true });
  return root;
}

/**
 * A quantile by the definition of `percentile` in build-tools/shelfish/src/summary.rs; `share` is from 0 to 1.
 * @param {number[]} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [
    sorted[Math.floor(place)],
    sorted[Math.ceil(place)],
  ];
  return below + (above - below) * (place % 1);
}

export const sum = (/** @type {number[]} */ values) =>
  values.reduce((a, b) => a + b, 0);

export const mean = (/** @type {number[]} */ values) =>
  sum(values) / values.length;

/** Formats the mean, the median, the 95 % quantile and the maximum. */
export const spread = (
  /** @type {number[]} */ values,
  /** @type {number} */ digits,
) =>
  [mean(values), ...[0.5, 0.95, 1].map((share) => quantile(values, share))].map(
    (value) => value.toFixed(digits),
  );

/**
 * Formats a table in Markdown.
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
export const table = (head, rows) =>
  [head, head.map((_, n) => (n ? "---:" : "---")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
