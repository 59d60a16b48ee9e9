// Opens databases and books: requests the manifest while the WASM module loads.

import { throwIfAborted, unlessAborted } from "./abort.js";
import { type ErrorFields, ShelfishError } from "./errors.js";
import { type Module, platform, ready } from "./load.js";
import type { OpenOptions, Source } from "./types.js";

/** The function `open` of a WASM module. */
type Open<E> = (
  url: string,
  source: unknown,
  options: unknown,
  response: Promise<Response> | undefined,
  controller: AbortController | undefined,
  makeError: (fields: ErrorFields, cause?: unknown) => ShelfishError,
) => Promise<E>;

const makeError = (fields: ErrorFields, cause?: unknown) => new ShelfishError(fields, cause);

/** Returns the URL of the manifest of a database. */
function manifestUrl(database: string | URL): string {
  // Relative to the page or Worker. In Node there is no base.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url: URL | undefined;
  try {
    url = new URL(database, base);
    if (url.pathname.endsWith("/")) url = new URL("manifest.json", url);
    new URL(".", url);
    return url.href;
  } catch (cause) {
    const reason = url ? "a URL that cannot have files next to it" : "not an absolute URL";
    const text = String(database);
    throw makeError({ code: "network", message: `${reason}: ${text.slice(0, 200)}`, url: text }, cause);
  }
}

/** Opens a database or book with a WASM module. */
export async function connect<E>(
  module: Module,
  open: Open<E>,
  database: string | URL | Source,
  options?: OpenOptions,
): Promise<E> {
  const { wasm, signal, fetch: send = globalThis.fetch, headers } = options ?? {};
  throwIfAborted(signal, "opening");
  const isObject = typeof database === "object" && database !== null && "range" in database;
  const source = isObject ? (database as Source) : platform.source?.(database as string | URL);
  const url = source ? source.url : manifestUrl(database as string | URL);
  const controller = new AbortController();
  let response: Promise<Response> | undefined;
  if (!source && globalThis.navigator?.onLine !== false && typeof send === "function") {
    response = (async () => send(url, { signal: controller.signal, cache: "no-cache", ...(headers && { headers }) }))();
    // The module reports the failure, unless the module fails to load.
    response.catch(() => {});
  }
  try {
    await unlessAborted(ready(module, wasm), signal, "opening");
    return await open(url, source, options, response, response && controller, makeError);
  } catch (error) {
    controller.abort();
    throw error;
  }
}
