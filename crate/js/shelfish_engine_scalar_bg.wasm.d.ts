/** The module, as the toolchain imports it: compiled, its bytes or its URL. `openEngine` of `shelfish/engine` takes it as `wasm`. */
declare const wasm: object | string;
export default wasm;
