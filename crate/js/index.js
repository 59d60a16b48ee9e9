// The package's face: the WASM module loaded once, and the manifest fetched meanwhile.

import { Database } from "./database.js";
import { ShelfishError, atLeast, check, failure, until } from "./errors.js";
import { Exchange } from "./exchange.js";
import { pin } from "./integrity.js";
import init, { Database as Engine, Request } from "./shelfish.js";
import { Failure, load } from "./load.ts";
import { Store } from "./store.js";

export { Database, ShelfishError };

/** Loads the WASM module; a failure is not final. */
async function ready(wasm) {
  try {
    await init({ module_or_path: await load(wasm) });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new ShelfishError(error.code, error.message, error);
  }
}

/** Asks for the manifest, unless it is known that no answer will come. */
const ask = (url) => (globalThis.navigator?.onLine === false ? undefined : new Exchange(url));

async function connect(url, exchange, { wasm, store, memoryBytes, timeout, concurrency, verify }) {
  await ready(wasm);
  const folder = new URL(".", url).href;
  const opened = (engine, requests, bytes) =>
    new Database(engine, url, { store, timeout, concurrency, verify, requests, bytes });
  const recall = async () => {
    const [bytes] = (await store?.get([url])) ?? [];
    if (!bytes) return undefined;
    return verify(bytes).then(() => Engine.recall(bytes, folder, memoryBytes), () => undefined);
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
    // What was refused, or never came, is told of below.
    if (request.whole) await verify(bytes);
    const engine = Engine.open(request, folder, memoryBytes);
    store?.put(url, bytes, true);
    return opened(engine, exchange.sent, bytes.length);
  } catch (text) {
    const kept = request.unreachable && (await recall());
    if (kept) return opened(kept, exchange.sent, 0);
    throw typeof text === "string" ? failure(JSON.parse(text)) : text;
  } finally {
    request.free();
  }
}

export async function open(manifestUrl, options = {}) {
  const { indexedDB = true, signal } = options ?? {};
  const number = (name, least, otherwise) => atLeast(least, name, options?.[name] ?? otherwise);
  const memoryBytes = number("memoryBytes", 0, 16 * 2 ** 20);
  const concurrency = Math.floor(number("concurrency", 1, 12));
  const timeout = number("timeout", 0, 15_000);
  check(signal);
  // Relative to the page or worker; Node has neither and takes absolute URLs only.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url, folder;
  try {
    url = new URL(manifestUrl, base);
    if (url.pathname.endsWith("/")) url = new URL("manifest.json", url);
    folder = new URL(".", url).href;
  } catch (cause) {
    const why = url ? "a URL that no files can stand beside" : "not an absolute URL";
    throw new ShelfishError("network", `${why}: ${String(manifestUrl).slice(0, 200)}`, { url: String(manifestUrl), cause });
  }
  const { name = "shelfish", bytes = 64 * 2 ** 20 } = indexedDB === true ? {} : indexedDB || {};
  atLeast(0, "indexedDB.bytes", bytes);
  const verify = pin(options?.integrity, url.href);
  // Both are under way while the module is loaded.
  const store = indexedDB ? new Store(String(name), bytes, folder) : undefined;
  const exchange = ask(url.href);
  const work = connect(url.href, exchange, { wasm: options?.wasm, store, memoryBytes, timeout, concurrency, verify });
  return until(work, signal, new Set(), () => {
    exchange?.cancel();
    store?.close();
    // Nobody hears of it any more.
    work.then((database) => database.close(), () => {});
  });
}
