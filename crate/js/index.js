// The package's face: options, errors, cancelling, and the WASM module loaded once.

import init, { Database as Engine } from "./shelfish.js";

export class ShelfishError extends Error {
  constructor(code, message, { url, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = code === "aborted" ? "AbortError" : "ShelfishError";
    this.code = code;
    if (url !== undefined) this.url = url;
  }
}

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

const aborted = (signal) => new ShelfishError("aborted", "the lookup was aborted", { cause: signal.reason });
const closed = () => new ShelfishError("closed", "the database was closed");
const failure = ({ code, message, url }) => new ShelfishError(code, message, { url });

/** Runs a task of the module until it settles, the signal aborts it or `stops` is called upon. */
function run(start, signal, stops) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(signal));
    const task = start();
    const settle = (outcome, value) => {
      signal?.removeEventListener("abort", abort);
      stops?.delete(stop);
      outcome(value);
    };
    const stop = (error) => {
      task.cancel();
      settle(reject, error);
    };
    const abort = () => stop(aborted(signal));
    signal?.addEventListener("abort", abort);
    stops?.add(stop);
    task.promise.then(
      (value) => settle(resolve, value),
      // A failure of the module's is JSON; whatever else there may be is passed on as it is.
      (error) => settle(reject, typeof error === "string" ? failure(JSON.parse(error)) : error),
    );
  });
}

/** An answer as the module writes it, or the error that stands in its place. */
function revive(answer) {
  if (answer === null) return null;
  if (answer.code !== undefined) return failure(answer);
  answer.best = answer.evaluations[0];
  return answer;
}

export class Database {
  #engine;
  #stops = new Set();

  /** Use `open`. */
  constructor(engine) {
    this.#engine = engine;
  }

  get #open() {
    if (this.#engine === undefined) throw closed();
    return this.#engine;
  }

  get manifest() {
    return JSON.parse(this.#open.manifest());
  }

  async lookup(fen, { signal, castling, san = false } = {}) {
    if (signal?.aborted) throw aborted(signal);
    const chess960 = castling === "chess960";
    fen = String(fen);
    const held = this.#open.peek(fen, chess960, san);
    const text = held ?? (await this.#lookup([fen], chess960, san, signal));
    const answer = JSON.parse(text);
    const entry = revive(held === undefined ? answer[0] : answer);
    if (entry instanceof ShelfishError) throw entry;
    return entry;
  }

  async lookupMany(fens, { signal, castling, san = false } = {}) {
    const texts = Array.from(fens, String);
    return JSON.parse(await this.#lookup(texts, castling === "chess960", san, signal)).map(revive);
  }

  #lookup(fens, chess960, san, signal) {
    const engine = this.#open;
    return run(() => engine.lookup(fens, chess960, san), signal, this.#stops);
  }

  stats() {
    return JSON.parse(this.#open.stats());
  }

  close() {
    this.#engine?.free();
    this.#engine = undefined;
    for (const stop of [...this.#stops]) stop(closed());
  }
}

export async function open(manifestUrl, options = {}) {
  const { memoryBytes = 16 * 2 ** 20, indexedDB = true, concurrency = 6, timeout = 15_000, signal } = options;
  if (signal?.aborted) throw aborted(signal);
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
  await load();
  const start = () => Engine.open(url.href, memoryBytes, indexedDB ? name : undefined, bytes, concurrency, timeout);
  return new Database(await run(start, signal));
}
