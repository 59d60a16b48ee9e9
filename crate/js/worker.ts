// A database in a Worker: `serve` answers in the Worker, `connect` asks from the page. The page does not load the module.
/// <reference lib="esnext.disposable" preserve="true" />

import type { Database, openDatabase } from "./index.js";
import { Calls, onAbort, orAborted } from "./shared/abort.js";
import {
  asError,
  enter,
  type ErrorCode,
  failed,
  ShelfishError,
} from "./shared/errors.js";
import { TIMEOUT } from "./shared/load.js";
import { isUrl, urlText } from "./shared/options.js";
import type { Manifest, OpenOptions, Stats } from "./shared/types.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "./shared/errors.js";
export type * from "./shared/types.js";

/** Receiver of the first message: a `Worker`, the `port` of a `SharedWorker`, or the global scope of a Worker. */
export interface Port {
  postMessage(message: unknown, transfer: any[]): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  start?(): void;
}

/** A database in a Worker. Every method of {@link Database} returns a promise. */
export interface RemoteDatabase extends Pick<
  Database,
  | "lookup"
  | "lookupMany"
  | "prefetch"
  | "clear"
  | "close"
  | typeof Symbol.dispose
> {
  /** The manifest of the database. */
  readonly manifest: Promise<Manifest>;
  /** Returns totals since the database was opened. */
  stats(): Promise<Stats>;
}

/** The first message, which a Worker distinguishes from its other messages. */
const HELLO = "shelfish: open a database";

/** In a Worker: opens databases for pages that call {@link connect}, with `openDatabase` of any entry. */
export function serve(
  opener: typeof openDatabase,
  scope: Port = globalThis as unknown as Port,
): void {
  scope.addEventListener(
    "message",
    ({ data, ports }) => data === HELLO && answer(opener, ports[0]),
  );
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
        const onRequest = options.onRequest
          ? (request: unknown) => port.postMessage({ request })
          : undefined;
        database = await opener(subject, { ...options, onRequest, signal });
      } else if (method === "manifest") value = database.manifest;
      else value = await database[method](subject, { ...options, signal });
      port.postMessage({
        id,
        value: Array.isArray(value) ? value.map(sendable) : value,
      });
    } catch (error) {
      port.postMessage({ id, error: sendable(error) });
    }
    calls.delete(id);
    if (method === "close") port.close();
  };
  // Says that the Worker has started.
  port.postMessage({});
}

/** Returns the fields of an error, which `postMessage` would not send. */
const sendable = (value: unknown) =>
  value instanceof ShelfishError ? value.toJSON() : value;
/** Returns a list that can be posted. The database reports other arguments. */
const listed = (fens: any) =>
  typeof fens !== "string" && fens?.[Symbol.iterator] ? Array.from(fens) : fens;
/** Resolves a URL relative to the page, not to the Worker. */
const absolute = (url: string | URL) =>
  new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href;

/**
 * Opens a database in a Worker that calls {@link serve}, like `openDatabase` of `shelfish` but without `fetch` and custom
 * sources. A Worker may open several databases, and `close` does not end it. If `worker` is a function, the Worker belongs
 * to the database and ends with it.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function connect(
  worker: Port | (() => Port & { terminate(): unknown }),
  database: string | URL,
  options?: Omit<OpenOptions, "fetch">,
): Promise<RemoteDatabase> {
  return enter(() => connected(worker, database, options ?? {}));
}

async function connected(
  worker: Parameters<typeof connect>[0],
  database: string | URL,
  { onRequest, headers, wasm, ...rest }: Omit<OpenOptions, "fetch">,
): Promise<RemoteDatabase> {
  // A custom source is posted unchanged, which fails.
  const subject =
    isUrl(database) || !database || typeof database !== "object"
      ? absolute(urlText("connect", database))
      : database;
  const own = typeof worker === "function" ? worker() : undefined;
  const host = own ?? (worker as Port);
  const { port1: port, port2 } = new MessageChannel();
  const answers = new Map<
    number,
    { resolve: (value: any) => void; reject: (error: unknown) => void }
  >();
  const calls = new Calls();
  let last = 0;
  let isOpen = true;

  const ask = (
    method: string,
    subject?: unknown,
    options?: { signal?: AbortSignal | undefined } | null,
  ): Promise<any> =>
    enter(() => {
      if (!isOpen) throw failed("closed", "the database was closed");
      const { signal, ...rest } = options ?? {};
      const id = ++last;
      const send = (
        resolve: (value: any) => void,
        reject: (error: unknown) => void,
      ) => {
        answers.set(id, { resolve, reject });
        try {
          port.postMessage({ id, method, subject, options: rest });
        } catch (cause) {
          const text = `an argument cannot be sent to a Worker: ${cause}`;
          throw failed("usage", text, cause);
        }
      };
      return calls
        .run("the call", signal, (ended) => {
          onAbort(ended, () => port.postMessage({ id }));
          return orAborted(new Promise(send), ended);
        })
        .finally(() => answers.delete(id));
    });

  function close() {
    clearTimeout(timer);
    if (isOpen) port.postMessage({ method: "close" });
    isOpen = false;
    own?.terminate();
    calls.close(failed("closed", "the database was closed"));
  }

  const opening = (code: ErrorCode, message: string) =>
    answers.get(1)?.reject(failed(code, `the Worker ${message}`));
  const { timeout = TIMEOUT } = rest;
  const timer = setTimeout(
    () =>
      opening(
        "timeout",
        `did not start within ${timeout} ms: its script must call serve()`,
      ),
    timeout,
  );
  port.onmessage = ({ data: { id, value, error, request } }) => {
    clearTimeout(timer);
    if (request) onRequest?.(request);
    else if (error) answers.get(id)?.reject(error);
    else
      answers
        .get(id)
        ?.resolve(Array.isArray(value) ? value.map(asError) : value);
  };
  host.addEventListener("error", ({ message }: ErrorEvent) =>
    opening(
      "network",
      `could not be started: ${message || "there is no such script"}`,
    ),
  );
  host.postMessage(HELLO, [port2]);
  try {
    const given = await wasm;
    await ask("open", subject, {
      ...rest,
      ...{
        wasm: isUrl(given) ? absolute(given) : given,
        headers: headers && [...new Headers(headers)],
        onRequest: !!onRequest,
      },
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    lookup: (fen: string, options?: object) => ask("lookup", fen, options),
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
