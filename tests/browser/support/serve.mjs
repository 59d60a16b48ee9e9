// Runs `shelfish serve` and records its requests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { SHELFISH } from "./paths.mjs";
import { until } from "./until.mjs";

/** @typedef {{ status: number, method: string, path: string, range: string | null }} Served */

/** Writes text and modules of a directory in Brotli and gzip too, as the hosts of a slow network send them. */
function compress(/** @type {string} */ directory) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  for (const entry of readdirSync(directory, {
    recursive: true,
    withFileTypes: true,
  })) {
    if (
      !entry.isFile() ||
      !/\.(css|html|js|json|svg|txt|wasm)$/.test(entry.name)
    )
      continue;
    const path = join(entry.parentPath, entry.name);
    const [bytes, part] = [readFileSync(path), `${path}.${process.pid}`];
    for (const [ending, body] of /** @type {const} */ ([
      ["br", brotliCompressSync(bytes, { params })],
      ["gz", gzipSync(bytes)],
    ])) {
      writeFileSync(part, body);
      // Other tests may serve the same directory.
      renameSync(part, `${path}.${ending}`);
    }
  }
}

/**
 * Serves a directory on a free port. With a limit of the bandwidth, files are compressed.
 * @param {string} directory
 * @param {string[]} options
 */
export async function serve(directory, ...options) {
  if (options.includes("--bandwidth-mbit")) compress(directory);
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const child = spawn(
    SHELFISH,
    ["serve", directory, ...port, "--log", ...options],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  /** @type {Served[]} */
  let log = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    // Time, client, status, method, path, range, duration, FEN.
    const [, , status, method, path, range] = line.split(" ");
    if (status && method && path && range)
      log.push({
        status: Number(status),
        method,
        path,
        range: range === "-" ? null : range,
      });
  });
  const lines = createInterface({ input: child.stdout });
  const [url] = /** @type {string[]} */ (
    await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(() =>
        Promise.reject(new Error("shelfish serve ended at once")),
      ),
    ])
  );

  let asked = 0;
  return {
    url: String(url),

    /** Returns the requests since the last call, in order. */
    async requests() {
      // The log comes through a pipe: when the line of a new request arrives, all earlier lines have arrived.
      const mark = `/mark-${asked++}`;
      await fetch(new URL(mark, url)).then((answer) => answer.arrayBuffer());
      await until(
        () => log.some(({ path }) => path === mark),
        "the log has the last request",
      );
      const served = log.filter(({ path }) => !path.startsWith("/mark-"));
      log = [];
      return served;
    },

    async close() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null)
        await once(child, "exit");
    },
  };
}
