// Runs `shelfish serve` and records its requests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { SHELFISH } from "./paths.mjs";
import { until } from "./until.mjs";

/** @typedef {{ status: number, method: string, path: string, range: string | null }} Served */

/**
 * Serves a directory on a free port.
 * @param {string} directory
 * @param {string[]} options
 */
export async function serve(directory, ...options) {
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
