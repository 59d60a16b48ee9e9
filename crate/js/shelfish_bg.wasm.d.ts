/** The module, where an import of it compiles it. */
declare const wasm: WebAssembly.Module;
export default wasm;
