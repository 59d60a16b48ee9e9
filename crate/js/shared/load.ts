// Loads the WASM module of an entry.

import { ShelfishError, tagOf } from "./errors.js";
import { isIsolated, Parts } from "./parts.js";
import type { Source, Wasm } from "./types.js";

/** Names of a module, for error messages. */
export interface ModuleNames {
  /** The entry of the package. */
  entry: string;
  /** The file of the module. */
  file: string;
  /** The call that takes the option `wasm`. */
  call: string;
  /** The entry that the caller imported, if it is another entry, which has no option `wasm`. */
  by?: string | undefined;
  /** The file that lists the files of the database. Default `manifest.json`. */
  manifest?: string;
}

/** A module with the functions of wasm-bindgen that start it. */
export interface Module extends ModuleNames {
  imports: () => WebAssembly.Imports;
  start: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void;
}

/** A module of the package. */
export interface PackageModule {
  url: URL;
  /** The first 32 hexadecimal digits of the SHA-256 of the file. */
  sha256: string;
}

/** Parts that depend on the host. Each entry sets them. */
export const platform: {
  /** Returns the default module. */
  wasm: () => Wasm | PackageModule;
  /** Returns the source of a database that is not read by `fetch`. */
  source?: (
    call: string,
    database: string,
    manifest: string,
  ) => Source | undefined;
} = {
  wasm: () => {
    throw new TypeError("no module");
  },
};

/** The names of the entry's only module. */
let names: ModuleNames;
/** The module, compiled and started. */
const parts = new Parts();

/** Milliseconds in which a host must send a file of the package. Each 16 KiB extend them by a second. */
export const TIMEOUT = 20_000;
/** Length of a module whose length a host does not send, in bytes. */
const USUAL_BYTES = 1 << 18;

/** Loads and compiles a module once. After a failure, the next call tries again. */
export function compiled(
  module: ModuleNames,
  wasm?: Wasm | PromiseLike<Wasm>,
  timeout = TIMEOUT,
): Promise<WebAssembly.Module> {
  names = module;
  // An argument that is ignored may reject unhandled.
  Promise.resolve(wasm).catch(() => {});
  const loading = () =>
    load(wasm, timeout).catch((cause: unknown) => {
      if (cause instanceof ShelfishError) throw cause;
      throw failed(
        String((cause as Error | undefined)?.message ?? cause),
        undefined,
        cause,
      );
    });
  return parts.get("module", loading, true);
}

/** Loads and starts a module once. */
export async function ready(
  module: Module,
  wasm?: Wasm | PromiseLike<Wasm>,
  timeout?: number,
): Promise<void> {
  const loaded = await compiled(module, wasm, timeout);
  const start = async () => {
    const imports = module.imports();
    const instance = isIsolated()
      ? new WebAssembly.Instance(loaded, imports)
      : await WebAssembly.instantiate(loaded, imports);
    module.start(instance, loaded);
  };
  return parts.get("instance", start, true);
}

/** Only the main entry has a variant that contains its module. */
const inlineAdvice = () =>
  names.by
    ? `${names.by} needs a bundle that is an ES module, and ${names.file} of the package next to it`
    : names.entry === "shelfish"
      ? 'import from "shelfish/inline" (see "Toolchains" in the README)'
      : `pass the module: ${names.call}`;

function failed(
  reason: string,
  url?: string,
  cause?: unknown,
  code: "network" | "timeout" | "corrupt" = "network",
) {
  return new ShelfishError(
    {
      code,
      message: `the WASM module cannot be loaded: ${reason}`,
      ...(url && { url }),
    },
    cause,
  );
}

async function load(
  given: Wasm | PromiseLike<Wasm> | undefined,
  timeout: number,
): Promise<WebAssembly.Module> {
  let wasm: Wasm;
  if (given === undefined || given === null) {
    try {
      const found = platform.wasm();
      if (typeof found === "object" && "sha256" in found)
        return fromUrl(found.url.href, timeout, found.sha256);
      wasm = found;
    } catch (cause) {
      throw failed(
        `the bundle does not know its own URL: ${inlineAdvice()}`,
        undefined,
        cause,
      );
    }
  } else {
    wasm = await given;
  }
  const tag = tagOf(wasm);
  if (tag === "WebAssembly.Module") return wasm as WebAssembly.Module;
  if (typeof wasm === "string" || tag === "URL")
    return fromUrl(String(wasm), timeout);
  if (tag === "Response") {
    const response = wasm as Response;
    return compile(await bytesOfResponse(response, response.url), response.url);
  }
  if (/^(Shared)?ArrayBuffer$/.test(tag) || ArrayBuffer.isView(wasm))
    return compile(wasm as BufferSource);
  const message = `wasm: expected a URL, bytes, a Response or a WebAssembly.Module, found ${tag}`;
  throw new ShelfishError({ code: "usage", message });
}

/**
 * The hidden folder in which Vite's dev server caches packages, without the files next to the JavaScript. The first group is the root of
 * the server, the second group the name of the file.
 */
export const PREBUNDLED =
  /^(.*\/)node_modules\/\.[^/]+\/.*?([^/?#]*)(?:[?#].*)?$/;

async function fromUrl(
  url: string,
  timeout: number,
  sha256?: string,
): Promise<WebAssembly.Module> {
  const [, root, name] = PREBUNDLED.exec(url) ?? [];
  if (root === undefined) return fromExactUrl(url, timeout, sha256);
  try {
    return await fromExactUrl(
      `${root}node_modules/shelfish/${name}`,
      timeout,
      sha256,
    );
  } catch {
    // A workspace installs the package elsewhere. Vite's script for an import of the module contains its path.
    const script = await fetch(`${root}@id/shelfish/${name}?import&init`).then(
      (answer) => answer.text(),
      () => "",
    );
    const path = /"([^"]+\.wasm)\b[^"]*"/.exec(script)?.[1];
    return fromExactUrl(
      path === undefined ? url : new URL(path, url).href,
      timeout,
      sha256,
    );
  }
}

async function fromExactUrl(
  url: string,
  timeout: number,
  sha256?: string,
): Promise<WebAssembly.Module> {
  let bytes = await bytesOf(url, timeout);
  if (!(await hasHash(bytes, sha256))) {
    // A cache may have a damaged module, or the module of another version.
    bytes = await bytesOf(url, timeout, "reload");
    if (!(await hasHash(bytes, sha256))) {
      const remedy = `copy the file of this version of the package there, or pass another module: ${names.call}`;
      throw failed(
        `the SHA-256 of ${url} does not begin with ${sha256}: ${remedy}`,
        url,
        undefined,
        "corrupt",
      );
    }
  }
  return compile(bytes, url);
}

/** Returns whether bytes have a hash. Returns true without a hash, and on pages over HTTP, which cannot compute hashes. */
async function hasHash(
  bytes: Uint8Array<ArrayBuffer>,
  sha256?: string,
): Promise<boolean> {
  const { subtle } = globalThis.crypto ?? {};
  if (sha256 === undefined || !subtle) return true;
  const hash = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return [...hash]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .startsWith(sha256);
}

async function bytesOf(
  url: string,
  timeout: number,
  cache: RequestCache = "default",
): Promise<Uint8Array<ArrayBuffer>> {
  // Node runs the entry for browsers, but its `fetch` does not read files.
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => any };
  };
  const fs = /^file:/i.test(url) && process?.getBuiltinModule?.("node:fs");
  if (fs) return fs.promises.readFile(new URL(url));
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = (milliseconds: number) => {
    clearTimeout(timer);
    const late = () =>
      controller.abort(
        failed(
          `no complete answer from ${url} within ${Math.round(milliseconds)} ms`,
          url,
          undefined,
          "timeout",
        ),
      );
    timer = setTimeout(late, milliseconds);
  };
  limit(timeout);
  const { signal } = controller;
  try {
    const response = await fetch(url, { signal, cache });
    const length = Number(response.headers.get("Content-Length"));
    limit(timeout + (length || USUAL_BYTES) / 16.384);
    return await bytesOfResponse(response, url);
  } catch (cause) {
    const error = signal.reason ?? cause;
    if (error instanceof ShelfishError) throw error;
    throw failed(
      `no complete answer from ${url} (${error.message}); ${advice(url)}`,
      url,
      cause,
    );
  } finally {
    clearTimeout(timer);
  }
}

async function bytesOfResponse(
  response: Response,
  url: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const type = response.headers.get("Content-Type") ?? "no content type";
  if (!response.ok)
    throw failed(
      `${url} was answered with status ${response.status}; ${advice(url)}`,
      url,
    );
  // Not a stream: Firefox waits forever for the rest of a truncated stream, and its process compiles no other module.
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (String(bytes.subarray(0, 4)) !== "0,97,115,109") {
    const start = JSON.stringify(
      new TextDecoder().decode(bytes.subarray(0, 40)),
    );
    throw failed(
      `${url} is not WebAssembly: it was answered with ${type}, ${start}; ${advice(url)}`,
      url,
    );
  }
  return bytes;
}

/** Compiles a module. Adds advice to the error if a policy forbids the compilation. */
async function compile(
  bytes: BufferSource,
  url?: string,
): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    const { message } = cause as Error;
    const isForbidden = /\bCSP\b|Content.Security|unsafe-eval|disallowed/i.test(
      message,
    );
    const advice =
      "; the Content-Security-Policy of a page needs script-src 'wasm-unsafe-eval', a Worker at Cloudflare " +
      `import wasm from "shelfish/${names.file}" and ${names.call}`;
    throw failed(message + (isForbidden ? advice : ""), url, cause);
  }
}

/** Returns advice if Vite's dev server made the script at this URL. */
export function viteAdvice(url: string): string | undefined {
  const isVite = PREBUNDLED.test(url) || /\/@(fs|id)\//.test(url);
  return isVite
    ? 'in the configuration of Vite, write optimizeDeps: { exclude: ["shelfish"] }'
    : undefined;
}

function advice(url: string) {
  const others = names.by
    ? ""
    : `, or copy it there, or pass its URL: ${names.call}`;
  return (
    viteAdvice(url) ?? `if a bundler omitted it, ${inlineAdvice()}${others}`
  );
}
