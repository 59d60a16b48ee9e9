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

/** The first 32 hexadecimal digits of the SHA-256 of each WASM module of the package, by name. `cargo xtask npm` defines them. */
declare const SHA256: Record<
  | "shelfish_bg"
  | "shelfish_endgames_bg"
  | "shelfish_analysis_bg"
  | "shelfish_engine_bg",
  string
>;

/** A script as text. */
declare module "*-text.js" {
  const script: string;
  export default script;
}
