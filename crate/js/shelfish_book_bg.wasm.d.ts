/** The module, as the toolchain imports it: compiled, its bytes or its URL. `openBook` of `shelfish/book` takes it as `wasm`. */
declare const wasm: object | string;
export default wasm;
