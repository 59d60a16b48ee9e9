/** The module, as the toolchain imports it: compiled, its bytes or its URL. `openDatabase` takes it as `wasm`. */
declare const wasm: object | string;
export default wasm;
