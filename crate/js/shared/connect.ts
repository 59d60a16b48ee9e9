// Opens databases and books: requests the manifest while the WASM module loads.

import { Calls, onAbort, orAborted } from "./abort.js";
import { ShelfishError } from "./errors.js";
import { type Module, platform, ready } from "./load.js";
import {
  checked,
  type Kinds,
  noPin,
  splitPin,
  urlText,
  usage,
} from "./options.js";
import { entryOf } from "./parts.js";
import type { OpenOptions, Source } from "./types.js";

/** The function of a WASM module that opens files. */
type Open<E> = (
  url: string,
  source: unknown,
  options: unknown,
  response: Promise<Response> | undefined,
  controller: AbortController | undefined,
  signal: AbortSignal,
) => Promise<E>;

const OPTIONS: Kinds<OpenOptions> = {
  memoryBytes: "least0",
  indexedDB: "cache",
  concurrency: "least1",
  timeout: "least1",
  integrity: "text",
  fetch: "function",
  headers: "other",
  onRequest: "function",
  wasm: "other",
  signal: "signal",
};

/** Returns the URL of the manifest of a database, with the query. */
function manifestUrl(call: string, database: string, manifest: string): string {
  if (database.includes("#")) throw noPin(call, database);
  // Relative to the page or Worker. In Node there is no base.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url: URL | undefined;
  try {
    url = new URL(database, base);
    if (url.pathname.endsWith("/")) url.pathname += manifest;
    new URL(".", url);
    return url.href;
  } catch (cause) {
    const reason = url
      ? "a URL that cannot have files next to it"
      : "not an absolute URL";
    // A query may be a signature.
    const text = database.replace(/\?.+/s, "?…");
    throw new ShelfishError(
      {
        code: "network",
        message: `${reason}: ${text.slice(0, 200)}`,
        url: text,
      },
      cause,
    );
  }
}

/** Opens a database, a book or endgame tables with a WASM module. */
export async function connect<E>(
  call: string,
  module: Module,
  open: Open<E>,
  database: string | URL | Source,
  given?: OpenOptions,
): Promise<E> {
  const { ...options } = checked(call, given, OPTIONS);
  const { wasm, signal, headers, indexedDB, timeout, integrity } = options;
  const { manifest = "manifest.json" } = module;
  const send = options.fetch ?? globalThis.fetch;
  if (typeof indexedDB === "object")
    checked(call, indexedDB, { name: "text", bytes: "least0" }, "indexedDB.");
  const isObject =
    typeof database === "object" && database !== null && "range" in database;
  const [address = "", pin] = isObject ? [] : splitPin(urlText(call, database));
  const source = isObject
    ? (database as Source)
    : platform.source?.(call, address, manifest);
  const url = source ? source.url : manifestUrl(call, address, manifest);
  if ((pin ?? integrity) && module.manifest)
    throw usage(`${call}: endgame tables have no manifest with a hash`);
  if (pin && !(integrity ?? pin).split(/\s+/).includes(pin))
    throw usage("integrity: expected the hash after the URL");
  options.integrity = pin ?? integrity;
  return new Calls().run("opening", signal, async (own) => {
    const controller = new AbortController();
    onAbort(own, () => controller.abort());
    let response: Promise<Response> | undefined;
    if (
      !source &&
      globalThis.navigator?.onLine !== false &&
      typeof send === "function"
    ) {
      response = (async () =>
        send(url, {
          signal: controller.signal,
          cache: "no-cache",
          ...(headers && { headers }),
        }))();
      // The module reports the failure, unless the module fails to load.
      response.catch(() => {});
    }
    try {
      await orAborted(
        ready({ ...module, by: entryOf(given) }, wasm, timeout),
        own,
      );
      if (own.aborted) throw own.reason;
      return await open(
        url,
        source,
        // Without IndexedDB the module has no cache. It then asks no clock, which Next forbids while it prerenders.
        "indexedDB" in globalThis ? options : { ...options, indexedDB: false },
        response,
        response && controller,
        own,
      );
    } catch (error) {
      controller.abort();
      throw error;
    }
  });
}
