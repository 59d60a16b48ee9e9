// A database in a Worker: `serve` answers in there, `connect` asks from the page, which does not load the module.
/// <reference lib="esnext.disposable" preserve="true" />

import { type ErrorCode, ShelfishError } from "./errors.js";
import type { Database, openDatabase } from "./index.js";
import type { Manifest, OpenOptions, Stats } from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type * from "./types.js";

/** What the first message goes through: a `Worker`, the `port` of a `SharedWorker`, or the inside of one. */
export interface Port {
  postMessage(message: unknown, transfer: any[]): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  start?(): void;
}

/** A database that is open in a Worker: as {@link Database}, but that all is promised. */
export interface RemoteDatabase
  extends Pick<Database, "lookup" | "lookupMany" | "prefetch" | "clear" | "close" | typeof Symbol.dispose> {
  /** What the database says of itself. */
  readonly manifest: Promise<Manifest>;
  /** What was done since the database was opened. */
  stats(): Promise<Stats>;
}

/** Ours among messages that may be the Worker's own. */
const HELLO = "shelfish: a database is asked for";

/** In a Worker: opens databases for those who {@link connect}, with the `openDatabase` of `shelfish` or of another entry. */
export function serve(opener: typeof openDatabase, scope: Port = globalThis as unknown as Port): void {
  scope.addEventListener("message", ({ data, ports }) => data === HELLO && answer(opener, ports[0]));
  scope.start?.();
}

function answer(opener: typeof openDatabase, port: MessagePort): void {
  let database: any;
  const calls = new Map<number, AbortController>();
  port.onmessage = async ({ data: { id, method, subject, options } }) => {
    if (!method) return calls.get(id)?.abort();
    const call = new AbortController();
    const { signal } = call;
    calls.set(id, call);
    try {
      let value: unknown;
      if (method === "open") {
        const onRequest = options.onRequest ? (request: unknown) => port.postMessage({ request }) : undefined;
        database = await opener(subject, { ...options, onRequest, signal });
      } else {
        value = method === "manifest" ? database.manifest : await database[method](subject, { ...options, signal });
      }
      port.postMessage({ id, value });
    } catch (error) {
      port.postMessage({ id, error });
    }
    calls.delete(id);
    // Of an opening that was given up, too.
    if (method === "close") port.close();
  };
}

const failed = (code: ErrorCode, message: string, cause?: unknown) => new ShelfishError({ code, message }, cause);
/** An error is a plain object when it came through a port. */
const revived = (value: any) => (typeof value?.code === "string" ? new ShelfishError(value) : value);
/** A list that can be posted; what is no list is told so by the database. */
const listed = (fens: any) => (typeof fens !== "string" && fens?.[Symbol.iterator] ? Array.from(fens, String) : fens);
/** Relative URLs are the page's, not the Worker's. */
const absolute = (url: string | URL) => new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href;

/**
 * Opens a database in a Worker that calls {@link serve}: as `openDatabase` of `shelfish`, but that functions stay outside, which
 * are `fetch` and sources. A Worker may have several databases open, and `close` leaves it running; one that a function
 * makes is the database's own and ends with it.
 *
 * Rejects with a {@link ShelfishError}.
 */
export async function connect(
  worker: Port | (() => Worker),
  database: string | URL,
  options?: Omit<OpenOptions, "fetch">,
): Promise<RemoteDatabase> {
  const { onRequest, headers, wasm, ...rest } = options ?? {};
  const own = typeof worker === "function" ? worker() : undefined;
  const host = own ?? (worker as Port);
  const { port1: port, port2 } = new MessageChannel();
  const calls = new Map<number, { resolve: (value: any) => void; reject: (error: unknown) => void }>();
  let last = 0;
  let isOpen = true;

  async function ask(method: string, subject?: unknown, options?: { signal?: AbortSignal | undefined } | null): Promise<any> {
    if (!isOpen) throw failed("closed", "the database was closed");
    const { signal, ...rest } = options ?? {};
    const id = ++last;
    const calling = new Promise((resolve, reject) => calls.set(id, { resolve, reject }));
    const abort = () => {
      port.postMessage({ id });
      calls.get(id)?.reject(failed("aborted", "it was aborted", signal?.reason));
    };
    signal?.addEventListener("abort", abort);
    try {
      if (signal?.aborted) abort();
      else port.postMessage({ id, method, subject, options: rest });
    } catch (cause) {
      calls.get(id)?.reject(failed("usage", `a Worker cannot be given this: ${(cause as Error).message}`, cause));
    }
    return calling.finally(() => {
      calls.delete(id);
      signal?.removeEventListener("abort", abort);
    });
  }

  function close() {
    if (isOpen) port.postMessage({ method: "close" });
    isOpen = false;
    own?.terminate();
    for (const { reject } of calls.values()) reject(failed("closed", "the database was closed"));
  }

  port.onmessage = ({ data: { id, value, error, request } }) => {
    if (request) onRequest?.(request);
    else if (error) calls.get(id)?.reject(revived(error));
    else calls.get(id)?.resolve(Array.isArray(value) ? value.map(revived) : value);
  };
  host.addEventListener("error", ({ message }: ErrorEvent) => {
    calls.get(1)?.reject(failed("network", `the Worker could not be started: ${message || "there is no such script"}`));
  });
  host.postMessage(HELLO, [port2]);
  try {
    const given = await wasm;
    const isUrl = typeof given === "string" || given instanceof URL;
    // A source goes as it is, which is refused.
    await ask("open", typeof database === "string" || database instanceof URL ? absolute(database) : database, {
      ...rest,
      ...{ wasm: isUrl ? absolute(given) : given, headers: headers && [...new Headers(headers)], onRequest: !!onRequest },
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    lookup: (fen, options) => ask("lookup", String(fen), options),
    lookupMany: (fens, options) => ask("lookupMany", listed(fens), options),
    prefetch: (fens, options) => ask("prefetch", listed(fens), options),
    clear: () => ask("clear"),
    stats: () => ask("stats"),
    get manifest() {
      return ask("manifest");
    },
    close,
    [Symbol.dispose]: close,
  };
}
