// Loading the WASM module: where it comes from, and what to say if it does not.

import { ShelfishError } from "./errors.js";
import type { Source, Wasm } from "./types.js";

/** What is imported to have a module, the file that it is in, and what takes it as `wasm`: for what is said if it is missing. */
export interface Named {
  entry: string;
  file: string;
  call: string;
}

/** The module of an entry. */
export interface Module extends Named {
  /** How wasm-bindgen starts it. */
  imports: () => WebAssembly.Imports;
  start: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void;
}

/** What depends on where the package runs; its entries fill it in. */
export const platform: {
  /** The module, unless the caller gives one. */
  wasm: () => Wasm;
  /** The source of a database that is not asked for by `fetch`. */
  source?: (database: string | URL) => Source | undefined;
} = {
  wasm: () => {
    throw new TypeError("no module");
  },
};

/** The module that is loaded: each entry has one, and is a bundle of its own. */
let own: Named;

const inline = () => `import from "${own.entry}/inline" (see "Toolchains" in the README)`;

let loading: Promise<WebAssembly.Module> | undefined;

/**
 * The module, compiled once: as the first caller gives it, or else as it comes with the package. A failure is not final.
 *
 * Rejects with a {@link ShelfishError}.
 */
function load(given?: Wasm | PromiseLike<Wasm>): Promise<WebAssembly.Module> {
  // One that is not looked at may fail unheard.
  Promise.resolve(given).catch(() => {});
  loading ??= take(given).catch((cause: unknown) => {
    loading = undefined;
    if (cause instanceof ShelfishError) throw cause;
    throw failed(String((cause as Error | undefined)?.message ?? cause), undefined, cause);
  });
  return loading;
}

let starting: Promise<void> | undefined;

/** Loads a module, once, which is started elsewhere. */
export function compiled(wanted: Named, given?: Wasm | PromiseLike<Wasm>): Promise<WebAssembly.Module> {
  own = wanted;
  return load(given);
}

/** Loads a module and starts it, once. */
export async function ready(wanted: Module, given?: Wasm | PromiseLike<Wasm>): Promise<void> {
  const module = await compiled(wanted, given);
  starting ??= WebAssembly.instantiate(module, wanted.imports()).then(
    (instance) => wanted.start(instance, module),
    (cause: unknown) => {
      starting = undefined;
      throw cause;
    },
  );
  return starting;
}

function failed(why: string, url?: string, cause?: unknown) {
  return new ShelfishError({ code: "network", message: `the WASM module cannot be loaded: ${why}`, ...(url && { url }) }, cause);
}

async function take(given?: Wasm | PromiseLike<Wasm>): Promise<WebAssembly.Module> {
  let wasm: Wasm;
  if (given === undefined || given === null) {
    try {
      wasm = platform.wasm();
    } catch (cause) {
      throw failed(`the bundle does not know its own URL: ${inline()}`, undefined, cause);
    }
  } else {
    wasm = await given;
  }
  // By their tags: there may be other realms' classes than ours.
  const tag = Object.prototype.toString.call(wasm).slice(8, -1);
  if (tag === "WebAssembly.Module") return wasm as WebAssembly.Module;
  if (typeof wasm === "string" || tag === "URL") return fromUrl(String(wasm));
  if (tag === "Response") return fromResponse(wasm as Response);
  if (/^(Shared)?ArrayBuffer$/.test(tag) || ArrayBuffer.isView(wasm)) return compile(wasm as BufferSource);
  const message = `wasm: expected a URL, bytes, a Response or a WebAssembly.Module, found ${tag}`;
  throw new ShelfishError({ code: "usage", message });
}

/** Vite's dev server keeps what it makes of a package in a hidden folder, without the files that lie beside it. */
const PREBUNDLED = /^(.*\/)node_modules\/\.[^/]+\/.*?([^/?#]*)(?:[?#].*)?$/;

async function fromUrl(url: string): Promise<WebAssembly.Module> {
  const [, root, name] = PREBUNDLED.exec(url) ?? [];
  if (root === undefined) return fromOneUrl(url);
  try {
    return await fromOneUrl(`${root}node_modules/shelfish/${name}`);
  } catch {
    // Installed elsewhere, as workspaces do. What Vite has imports of modules be names the file.
    const script = await fetch(`${root}@id/shelfish/${name}?import&init`).then((answer) => answer.text(), () => "");
    const path = /"([^"]+\.wasm)\b[^"]*"/.exec(script)?.[1];
    return fromOneUrl(path === undefined ? url : new URL(path, url).href);
  }
}

async function fromOneUrl(url: string): Promise<WebAssembly.Module> {
  if (/^file:/i.test(url)) {
    // Where Node runs what is made for browsers, and its `fetch` does not read files.
    const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => any } };
    const fs = process?.getBuiltinModule?.("node:fs");
    if (fs) return compile(await fs.promises.readFile(new URL(url)), url);
  }
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw failed(`no answer from ${url} (${(cause as Error).message}); ${advice(url)}`, url, cause);
  }
  return fromResponse(response, url);
}

async function fromResponse(response: Response, url = response.url): Promise<WebAssembly.Module> {
  const type = response.headers.get("Content-Type") ?? "no content type";
  if (!response.ok) throw failed(`${url} was answered with status ${response.status}; ${advice(url)}`, url);
  // Compiled while it comes, where the host says what it is; if not, it is looked at first.
  const streamed = /^application\/wasm\s*(;|$)/i.test(type) && !!WebAssembly.compileStreaming;
  if (streamed) return guarded(WebAssembly.compileStreaming(response), url);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (String(bytes.subarray(0, 4)) !== "0,97,115,109") {
    const start = JSON.stringify(new TextDecoder().decode(bytes.subarray(0, 40)));
    throw failed(`${url} is not WebAssembly: it was answered with ${type}, ${start}; ${advice(url)}`, url);
  }
  return compile(bytes, url);
}

const compile = (bytes: BufferSource, url?: string) => guarded(WebAssembly.compile(bytes), url);

/** What is to be done where modules may not be compiled. */
async function guarded(compiling: Promise<WebAssembly.Module>, url?: string): Promise<WebAssembly.Module> {
  try {
    return await compiling;
  } catch (cause) {
    const { message } = cause as Error;
    const isForbidden = /\bCSP\b|Content.Security|unsafe-eval|disallowed/i.test(message);
    const what =
      "; the Content-Security-Policy of a page needs script-src 'wasm-unsafe-eval', a Worker at Cloudflare " +
      `import wasm from "shelfish/${own.file}" and ${own.call}`;
    throw failed(message + (isForbidden ? what : ""), url, cause);
  }
}

/** The line that helps where Vite's dev server made this of the package. */
export function inVite(url: string): string | undefined {
  const isMade = PREBUNDLED.test(url) || /\/@(fs|id)\//.test(url);
  return isMade ? 'in the configuration of Vite, write optimizeDeps: { exclude: ["shelfish"] }' : undefined;
}

/** The line that helps. */
function advice(url: string) {
  return inVite(url) ?? `if a bundler left it out, ${inline()}, or put it there, or say where it is: ${own.call}`;
}
