// The package's face: the WASM module loaded once, and the manifest fetched meanwhile.

import { Database } from "./database.js";
import { ShelfishError, check, failure, until } from "./errors.js";
import { Exchange } from "./exchange.js";
import init, { Database as Engine, Request } from "./shelfish.js";
import { Store } from "./store.js";

export { Database, ShelfishError };

let loading;

/** Loads the WASM module; a failure is not final. */
function load() {
  loading ??= instantiate().catch((cause) => {
    loading = undefined;
    throw new ShelfishError("network", `the WASM module cannot be loaded: ${cause?.message ?? cause}`, { cause });
  });
  return loading;
}

async function instantiate() {
  const url = new URL("shelfish_bg.wasm", import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    // Node's fetch does not read files; bundlers for the browser must not look for this module.
    const fs = "node:fs/promises";
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ fs);
    await init({ module_or_path: await readFile(url) });
  } else {
    await init({ module_or_path: url });
  }
}

/** Asks for the manifest, unless it is known that no answer will come. */
const ask = (url) => (globalThis.navigator?.onLine === false ? undefined : new Exchange(url));

async function connect(url, exchange, { store, memoryBytes, timeout, concurrency }) {
  await load();
  const folder = new URL(".", url).href;
  const opened = (engine, requests, bytes) =>
    new Database(engine, url, { store, timeout, concurrency, requests, bytes });
  const recall = async () => {
    const [bytes] = (await store?.get([url])) ?? [];
    return bytes && Engine.recall(bytes, folder, memoryBytes);
  };
  if (!exchange) {
    const kept = await recall();
    if (kept) return opened(kept, 0, 0);
    // A host on this machine may answer all the same.
    exchange = new Exchange(url);
  }
  const request = Request.manifest(url);
  const bytes = await exchange.answer(request, timeout);
  try {
    const engine = Engine.open(request, folder, memoryBytes);
    store?.put(url, bytes, true);
    return opened(engine, 1, bytes.length);
  } catch (text) {
    const kept = request.unreachable && (await recall());
    if (kept) return opened(kept, 1, 0);
    throw typeof text === "string" ? failure(JSON.parse(text)) : text;
  } finally {
    request.free();
  }
}

export async function open(manifestUrl, options = {}) {
  const { memoryBytes = 16 * 2 ** 20, indexedDB = true, concurrency = 12, timeout = 15_000, signal } = options;
  check(signal);
  // Relative to the page or worker; Node has neither and takes absolute URLs only.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url;
  try {
    url = new URL(manifestUrl, base);
  } catch (cause) {
    throw new ShelfishError("network", `not an absolute URL: ${manifestUrl}`, { url: String(manifestUrl), cause });
  }
  if (url.pathname.endsWith("/")) url = new URL("manifest.json", url);
  const { name = "shelfish", bytes = 64 * 2 ** 20 } = indexedDB === true ? {} : indexedDB || {};
  // Both are under way while the module is loaded.
  const store = indexedDB ? new Store(name, bytes, new URL(".", url).href) : undefined;
  const exchange = ask(url.href);
  const work = connect(url.href, exchange, { store, memoryBytes, timeout, concurrency });
  return until(work, signal, new Set(), () => {
    exchange?.cancel();
    store?.close();
  });
}
