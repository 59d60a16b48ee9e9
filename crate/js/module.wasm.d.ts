/** The module as the toolchain imports it: compiled, its bytes or its URL. The option `wasm` of its entry takes it. */
declare const wasm: object | string;
export default wasm;
