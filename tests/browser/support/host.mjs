// A host that serves a directory correctly unless a test sets a fault. Its origin differs from the page, so CORS applies.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/**
 * @typedef {object} Exchange
 * @property {string} path
 * @property {Buffer} file the whole file
 * @property {Buffer} body the right answer
 * @property {{ start: number, end: number } | null} range the requested range without its end
 * @property {Record<string, string | number>} headers the right headers
 * @property {import("node:http").ServerResponse} response
 *
 * @typedef {(exchange: Exchange) => void} Fault answers instead of the host
 */

/** Faults of real hosts, by name. */
export const faults = {
  /** @type {Fault} The whole file with status 200, as hosts without ranges answer. */
  whole: ({ response, file }) => void response.writeHead(200, { ...CORS, "content-length": file.length }).end(file),

  /** @type {Fault} The same with a large file. */
  large: ({ response, file }) => {
    response.writeHead(200, { ...CORS, "content-length": file.length + 4_000_000 }).write(file);
    response.end(Buffer.alloc(4_000_000));
  },

  /** @type {Fault} A complete answer with half of the bytes. */
  short: (exchange) => send(exchange, exchange.body.subarray(0, exchange.body.length >> 1)),

  /** @type {Fault} The right header; then the connection breaks in the middle of the body. */
  cut: ({ response, headers, body }) => {
    response.writeHead(206, headers).write(body.subarray(0, body.length >> 1), () => response.destroy());
  },

  /** @type {Fault} The bytes of another range, with the right label. */
  another: ({ response, headers, range, file }) => {
    if (!range) return void response.destroy();
    const [start, end] = range.start > 0 ? [range.start - 1, range.end - 1] : [range.start + 1, range.end + 1];
    const body = file.subarray(start, end);
    response.writeHead(206, { ...headers, "content-range": `bytes ${start}-${end - 1}/${file.length}` }).end(body);
  },

  /** @type {Fault} The right header with bytes that are shifted by one. */
  shifted: (exchange) => send(exchange, Buffer.concat([exchange.body.subarray(1), exchange.body.subarray(0, 1)])),

  /** @type {Fault} One bit of the body is flipped. */
  flipped: (exchange) => {
    const body = Buffer.from(exchange.body);
    const middle = body.length >> 1;
    body.writeUInt8((body[middle] ?? 0) ^ 0x10, middle);
    send(exchange, body);
  },

  /** @type {Fault} No answer at all. */
  hang: () => {},

  /** @type {Fault} Half an answer, then silence. */
  stall: ({ response, headers, body }) => void response.writeHead(206, headers).write(body.subarray(0, body.length >> 1)),

  /** @type {Fault} The connection is closed without an answer. */
  reset: ({ response }) => void response.destroy(),

  /** @type {Fault} Compressed without a request for it, as some hosts compress JSON. CORS shows another origin the length, but not the coding. */
  compressed: ({ response, file }) => {
    const body = gzipSync(file);
    response.writeHead(200, { ...CORS, "content-encoding": "gzip", "content-length": body.length }).end(body);
  },

  /** @type {Fault} A byte every 200 ms, without an end. */
  drip: ({ response, headers, body, range }) => {
    response.writeHead(range ? 206 : 200, { ...headers, "content-length": body.length });
    const timer = setInterval(() => response.write(body.subarray(0, 1)), 200);
    response.on("close", () => clearInterval(timer));
  },

  /** @type {Fault} An error page instead of the file. */
  notFound: ({ response }) => void response.writeHead(404, CORS).end("<h1>404</h1>"),
  /** @type {Fault} */
  forbidden: ({ response }) => void response.writeHead(403, CORS).end("<h1>403</h1>"),
  /** @type {Fault} */
  broken: ({ response }) => void response.writeHead(500, CORS).end("<h1>500</h1>"),
};

/**
 * Answers with another content instead of the file.
 * @param {string | Buffer} body
 * @returns {Fault}
 */
export function instead(body) {
  return ({ response }) => void response.writeHead(200, { ...CORS, "content-length": Buffer.byteLength(body) }).end(body);
}

/**
 * Makes a host redirect each file to a signed address, as Hugging Face does. The addresses have other folders, and each request gets a new
 * address.
 * @param {Awaited<ReturnType<typeof host>>} hub
 */
export function redirectToSigned(hub) {
  let number = 0;
  /** @type {Fault} */
  const redirect = (exchange) => {
    const { path, response, body } = exchange;
    if (path.startsWith("/signed/")) return send(exchange, body);
    response.writeHead(307, { ...CORS, location: `/signed/${number}${path}?signature=${number++}` }).end();
  };
  Object.assign(hub, { manifestFault: redirect, fault: redirect, rewrite: (/** @type {string} */ path) => path.replace(/^\/signed\/\d+/, "") });
}

const CORS = { "access-control-allow-origin": "*", "cache-control": "no-cache" };

/**
 * @param {Exchange} exchange
 * @param {Buffer} body
 */
function send({ response, headers, range }, body) {
  response.writeHead(range ? 206 : 200, { ...headers, "content-length": body.length }).end(body);
}

/**
 * Starts a host for a directory. A test may change the fields `fault` and `directory` of the result at any time.
 * @param {string} directory
 */
export async function host(directory) {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://host").pathname;
    self.requests.push({ path, range: request.headers.range ?? null });
    const name = join(self.directory, self.rewrite(path));
    if (!existsSync(name)) return void response.writeHead(404, CORS).end();
    const file = readFileSync(name);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const range = from === undefined ? null : { start: Number(from), end: Math.min(Number(to) + 1, file.length) };
    const body = range ? file.subarray(range.start, range.end) : file;
    /** @type {Record<string, string | number>} */
    const headers = { ...CORS, "content-type": "application/octet-stream", "content-length": body.length };
    if (range) headers["content-range"] = `bytes ${range.start}-${range.end - 1}/${file.length}`;
    const exchange = { path, file, body, range, headers, response };
    const fault = path.endsWith("/manifest.json") ? self.manifestFault : self.fault;
    fault ? fault(exchange) : send(exchange, body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

  const self = {
    directory,
    url: `http://127.0.0.1:${port}/`,
    /** @type {{ path: string, range: string | null }[]} */
    requests: [],
    /** Returns the path of the file at a path of the host. */
    rewrite: (/** @type {string} */ path) => path,
    /** @type {Fault | undefined} what happens to everything but the manifest */
    fault: undefined,
    /** @type {Fault | undefined} what happens to the manifest */
    manifestFault: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return self;
}
