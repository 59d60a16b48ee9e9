// A host for pages and libraries: compresses by Brotli, over the same emulated network as the databases.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants } from "node:zlib";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};
const CHUNK = 16_384;

/**
 * Compresses at the best level of Brotli. This takes a minute for the largest file, so the result is stored for later runs.
 * @param {Buffer} bytes
 * @param {string} cache
 */
function brotli(bytes, cache) {
  const path = join(
    cache,
    `${createHash("sha256").update(bytes).digest("hex")}.br`,
  );
  if (existsSync(path)) return readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
  };
  const compressed = brotliCompressSync(bytes, {
    params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  mkdirSync(cache, { recursive: true });
  writeFileSync(path, compressed);
  return compressed;
}

/**
 * Serves a directory as fast as possible, or with a latency and a bandwidth that all answers share.
 * @param {string} directory
 * @param {string} cache of compressed files
 * @param {{ latency: number, mbit: number }} [network]
 */
export async function host(directory, cache, network) {
  /** @type {{ path: string, raw: number, sent: number }[]} */
  let taken = [];
  let free = 0;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    const file = join(directory, path);
    if (network) await sleep(network.latency);
    if (!existsSync(file)) return void response.writeHead(404).end();
    const raw = readFileSync(file);
    const body = brotli(raw, cache);
    taken.push({ path, raw: raw.length, sent: body.length });
    response.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-encoding": "br",
      "content-length": body.length,
      // Every page has its own browser profile. Files that it preloads for a Worker wait in the cache.
      "cache-control": "max-age=600",
    });
    for (let start = 0; network && start < body.length; start += CHUNK) {
      const chunk = body.subarray(start, start + CHUNK);
      free =
        Math.max(free, performance.now()) +
        (chunk.length * 8) / (network.mbit * 1000);
      if (free > performance.now()) await sleep(free - performance.now());
      response.write(chunk);
    }
    response.end(network ? undefined : body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  return {
    url: `http://127.0.0.1:${port}/`,

    /** Returns the requests since the last call. */
    taken() {
      const all = taken;
      taken = [];
      return all;
    },

    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
