/** The module, as the toolchain imports it: compiled, its bytes or its URL. `load` of `shelfish/engine` takes it as `wasm`. */
declare const wasm: object | string;
export default wasm;
