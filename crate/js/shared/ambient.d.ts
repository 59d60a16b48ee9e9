// Files that `cargo xtask npm` generates or that are imported as modules.

/** A compiled WASM module, as Cloudflare's Workers import it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** A WASM module as text: see decode-module.ts. */
declare module "*wasm.js" {
  const text: string;
  export default text;
}

/** A script as text. */
declare module "*-text.js" {
  const script: string;
  export default script;
}
