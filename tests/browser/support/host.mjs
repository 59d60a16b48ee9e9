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
 * @property {Headers} headers the right headers
 * @property {Headers} shared the headers of every answer, which allow other origins to read it
 * @property {import("node:http").ServerResponse} response
 *
 * @typedef {Record<string, string | number>} Headers
 * @typedef {(exchange: Exchange) => void} Fault answers instead of the host
 */

/** @type {Fault} Answers as the host does without a fault. */
export const rightly = (exchange) => send(exchange, exchange.body);

/** Faults of real hosts, by name. */
export const faults = {
  /** @type {Fault} The whole file with status 200, as hosts without ranges answer. */
  whole: ({ response, shared, file }) =>
    void response
      .writeHead(200, { ...shared, "content-length": file.length })
      .end(file),

  /** @type {Fault} The same with a large file. */
  large: ({ response, shared, file }) => {
    response
      .writeHead(200, { ...shared, "content-length": file.length + 4_000_000 })
      .write(file);
    response.end(Buffer.alloc(4_000_000));
  },

  /** @type {Fault} A complete answer with half of the bytes. */
  short: (exchange) => send(exchange, half(exchange.body)),

  /** @type {Fault} The right header without a length; the body ends cleanly in its middle. */
  ends: (exchange) => stream(exchange, half(exchange.body)),

  /** @type {Fault} The right header without a length; more bytes follow the right bytes. */
  long: (exchange) =>
    stream(exchange, Buffer.concat([exchange.body, Buffer.alloc(100)])),

  /** @type {Fault} The right header; then the connection breaks in the middle of the body. */
  cut: (exchange) => {
    const { response, body } = exchange;
    begin(exchange).write(half(body), () => response.destroy());
  },

  /** @type {Fault} An empty answer with the right status. */
  empty: (exchange) => send(exchange, Buffer.alloc(0)),

  /** @type {Fault} The bytes of another range, with the right label. */
  another: ({ response, headers, range, file }) => {
    if (!range) return void response.destroy();
    const [start, end] =
      range.start > 0
        ? [range.start - 1, range.end - 1]
        : [range.start + 1, range.end + 1];
    const body = file.subarray(start, end);
    response
      .writeHead(206, {
        ...headers,
        "content-range": `bytes ${start}-${end - 1}/${file.length}`,
      })
      .end(body);
  },

  /** @type {Fault} The right header with bytes that are shifted by one. */
  shifted: (exchange) =>
    send(
      exchange,
      Buffer.concat([exchange.body.subarray(1), exchange.body.subarray(0, 1)]),
    ),

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
  stall: (exchange) => void begin(exchange).write(half(exchange.body)),

  /** @type {Fault} The connection is closed without an answer. */
  reset: ({ response }) => void response.destroy(),

  /** @type {Fault} Compressed without a request for it, as some hosts compress JSON. CORS shows another origin the length, but not the coding. */
  compressed: ({ response, shared, file }) => {
    const body = gzipSync(file);
    response
      .writeHead(200, {
        ...shared,
        "content-encoding": "gzip",
        "content-length": body.length,
      })
      .end(body);
  },

  /** @type {Fault} The bytes of the range, compressed. */
  compressedRange: ({ response, headers, body, range }) => {
    const coded = gzipSync(body);
    response
      .writeHead(range ? 206 : 200, {
        ...headers,
        "content-encoding": "gzip",
        "content-length": coded.length,
      })
      .end(coded);
  },

  /** @type {Fault} The same range of the compressed file. */
  rangeOfCompressed: ({ response, headers, file, range }) => {
    if (!range) return void response.destroy();
    const coded = gzipSync(file);
    const body = coded.subarray(range.start, range.end);
    const coding = {
      "content-encoding": "gzip",
      "content-length": body.length,
    };
    response
      .writeHead(206, {
        ...headers,
        ...coding,
        "content-range": `bytes ${range.start}-${range.end - 1}/${coded.length}`,
      })
      .end(body);
  },

  /** @type {Fault} Decompressed by a proxy, which does not know the length of the file. */
  decompressed: (exchange) => {
    const { headers, range } = exchange;
    const size = range && {
      "content-range": `bytes ${range.start}-${range.end - 1}/*`,
    };
    stream(
      {
        ...exchange,
        headers: { ...headers, ...size, "content-encoding": "identity" },
      },
      exchange.body,
    );
  },

  /** @type {Fault} Decompressed by a proxy, which keeps the length of the compressed form. */
  compressedLength: ({ response, headers, body, range }) => {
    const length = { "content-length": body.length >> 1, connection: "close" };
    response.writeHead(range ? 206 : 200, { ...headers, ...length }).end(body);
  },

  /** @type {Fault} A byte every 200 ms, without an end. */
  drip: (exchange) => {
    const { response, body } = exchange;
    begin(exchange);
    const timer = setInterval(() => response.write(body.subarray(0, 1)), 200);
    response.on("close", () => clearInterval(timer));
  },

  /** @type {Fault} Another entity tag in every answer. */
  tags: (exchange) =>
    send(
      { ...exchange, headers: { ...exchange.headers, etag: `"${tags++}"` } },
      exchange.body,
    ),

  /** @type {Fault} The page of a captive portal instead of the file. */
  portal: ({ response, shared }) => {
    const page = `<!doctype html><title>Welcome</title><p>${"Sign in to use this network. ".repeat(40)}`;
    response
      .writeHead(200, {
        ...shared,
        "content-type": "text/html",
        "content-length": page.length,
      })
      .end(page);
  },

  /** @type {Fault} The right answer, whose headers another origin cannot read. */
  hidden: ({
    response,
    headers: { "access-control-expose-headers": _, ...headers },
    body,
    range,
  }) => void response.writeHead(range ? 206 : 200, headers).end(body),

  /** @type {Fault} The right answer, which another origin cannot read. */
  foreign: ({
    response,
    headers: { "access-control-allow-origin": _, ...headers },
    body,
    range,
  }) => void response.writeHead(range ? 206 : 200, headers).end(body),

  /** @type {Fault} An error page instead of the file. */
  notFound: ({ response, shared }) =>
    void response.writeHead(404, shared).end("<h1>404</h1>"),
  /** @type {Fault} */
  forbidden: ({ response, shared }) =>
    void response.writeHead(403, shared).end("<h1>403</h1>"),

  /** @type {Fault} */
  broken: ({ response, shared }) =>
    void response.writeHead(500, shared).end("<h1>500</h1>"),
};

/** The number of the next entity tag. */
let tags = 0;

const half = (/** @type {Buffer} */ body) => body.subarray(0, body.length >> 1);

/**
 * Answers with an error page.
 * @param {number} status
 * @param {Headers} headers
 * @returns {Fault}
 */
export function refusal(status, headers = {}) {
  return ({ response, shared }) =>
    void response
      .writeHead(status, { ...shared, ...headers })
      .end(`<h1>${status}</h1>`);
}

/**
 * Redirects to another path, where the file is.
 * @param {number} status
 * @returns {Fault}
 */
export function redirect(status) {
  return (exchange) => {
    const { path, response, shared } = exchange;
    if (path.startsWith("/moved/")) return rightly(exchange);
    response.writeHead(status, { ...shared, location: `/moved${path}` }).end();
  };
}

/**
 * Redirects each request to a new signed address, which caches may keep. An address expires after its first use, or before it.
 * @param {{ isExpired: boolean }} options
 * @returns {Fault}
 */
export function redirectOnce({ isExpired }) {
  const used = new Set();
  return (exchange) => {
    const { path, response, shared } = exchange;
    if (path.startsWith("/signed/")) {
      const isFresh = !isExpired && !used.has(path);
      used.add(path);
      return isFresh ? rightly(exchange) : faults.forbidden(exchange);
    }
    const location = `/signed/${tags++}${path}?signature=1`;
    response
      .writeHead(302, { ...shared, "cache-control": "max-age=3600", location })
      .end();
  };
}

/**
 * Answers with another content instead of the file.
 * @param {string | Buffer} body
 * @returns {Fault}
 */
export function instead(body) {
  return ({ response, shared }) =>
    void response
      .writeHead(200, { ...shared, "content-length": Buffer.byteLength(body) })
      .end(body);
}

/** Media types that browsers require, by the ending of a file. */
const TYPES = new Map([
  ["html", "text/html"],
  ["js", "text/javascript"],
  ["mjs", "text/javascript"],
  ["wasm", "application/wasm"],
]);

/** Sends the right head. */
function begin(/** @type {Exchange} */ { response, headers, range }) {
  return response.writeHead(range ? 206 : 200, headers);
}

/**
 * @param {Exchange} exchange
 * @param {Buffer} body
 */
function send({ response, headers, range }, body) {
  response
    .writeHead(range ? 206 : 200, { ...headers, "content-length": body.length })
    .end(body);
}

/**
 * Sends a body without its length.
 * @param {Exchange} exchange
 * @param {Buffer} body
 */
function stream(
  { response, headers: { "content-length": _, ...headers }, range },
  body,
) {
  response.writeHead(range ? 206 : 200, headers).write(body);
  response.end();
}

/**
 * Starts a host for a directory. A test may change the fields `fault` and `directory` of the result at any time.
 * @param {string} directory
 */
export async function host(directory) {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://host").pathname;
    const range = request.headers.range ?? null;
    self.requests.push({ path, range });
    self.heard({ path, range });
    const name = self.rewrite(path);
    const found = [self.directory, ...self.older]
      .map((directory) => join(directory, name))
      .find(existsSync);
    if (!found) return void response.writeHead(404, self.shared).end();
    const file = readFileSync(found);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    const part =
      from === undefined
        ? null
        : { start: Number(from), end: Math.min(Number(to) + 1, file.length) };
    const body = part ? file.subarray(part.start, part.end) : file;
    const type =
      TYPES.get(found.slice(found.lastIndexOf(".") + 1)) ??
      "application/octet-stream";
    /** @type {Headers} */
    const headers = {
      ...self.shared,
      "content-type": type,
      "content-length": body.length,
    };
    if (part)
      headers["content-range"] =
        `bytes ${part.start}-${part.end - 1}/${file.length}`;
    const exchange = {
      path,
      file,
      body,
      range: part,
      headers,
      shared: self.shared,
      response,
    };
    const fault = path.endsWith("/manifest.json")
      ? self.manifestFault
      : self.fault;
    (fault ?? rightly)(exchange);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );

  const self = {
    directory,
    /** Directories of files that `directory` lacks. @type {string[]} */
    older: [],
    url: `http://127.0.0.1:${port}/`,
    /** @type {Headers} */
    shared: { "access-control-allow-origin": "*", "cache-control": "no-cache" },
    /** @type {{ path: string, range: string | null }[]} */
    requests: [],
    /** Hears of a request before its file is read. */
    heard: (/** @type {{ path: string, range: string | null }} */ _) => {},
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
