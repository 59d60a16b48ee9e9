// Opening: what asks for the manifest while the module is loaded, whichever kind of record it reads.

import { unlessAborted } from "./abort.js";
import { type ErrorFields, ShelfishError } from "./errors.js";
import { type Module, platform, ready } from "./load.js";
import type { OpenOptions, Source } from "./types.js";

/** What a module opens. */
type Open<E> = (
  url: string,
  source: unknown,
  options: unknown,
  response: Promise<Response> | undefined,
  controller: AbortController | undefined,
  make: (failure: ErrorFields, cause?: unknown) => ShelfishError,
) => Promise<E>;

const make = (failure: ErrorFields, cause?: unknown) => new ShelfishError(failure, cause);

/** Texts of a list of FENs; what is no text is no FEN either. */
export function texts(method: string, fens: Iterable<string>): string[] {
  if (typeof fens === "string" || typeof fens?.[Symbol.iterator] !== "function") {
    throw make({ code: "usage", message: `${method}: expected a list of FENs, found ${typeof fens}` });
  }
  return Array.from(fens, String);
}

/** The URL of a manifest, from what names it or its folder. */
function locate(database: string | URL): string {
  // Relative to the page or worker; there is neither in Node.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url: URL | undefined;
  try {
    url = new URL(database, base);
    if (url.pathname.endsWith("/")) url = new URL("manifest.json", url);
    new URL(".", url);
    return url.href;
  } catch (cause) {
    const why = url ? "a URL that no files can stand beside" : "not an absolute URL";
    const text = String(database);
    throw make({ code: "network", message: `${why}: ${text.slice(0, 200)}`, url: text }, cause);
  }
}

/** Opens a database by a module. */
export async function connect<E>(
  module: Module,
  openReader: Open<E>,
  database: string | URL | Source,
  options?: OpenOptions,
): Promise<E> {
  const { wasm, signal, fetch: send = globalThis.fetch, headers } = options ?? {};
  await unlessAborted(Promise.resolve(), signal, "opening");
  const isObject = typeof database === "object" && database !== null && "range" in database;
  const source = isObject ? (database as Source) : platform.source?.(database as string | URL);
  const url = source ? source.url : locate(database as string | URL);
  const controller = new AbortController();
  let early: Promise<Response> | undefined;
  // It is under way while the module is loaded, unless no answer will come.
  if (!source && globalThis.navigator?.onLine !== false && typeof send === "function") {
    early = (async () => send(url, { signal: controller.signal, cache: "no-cache", ...(headers && { headers }) }))();
    // Heard of by the module, or by nobody.
    early.catch(() => {});
  }
  try {
    await unlessAborted(ready(module, wasm), signal, "opening");
    return await openReader(url, source, options, early, early && controller, make);
  } catch (error) {
    controller.abort();
    throw error;
  }
}
