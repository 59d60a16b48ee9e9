/** The module, as the toolchain imports it: compiled, its bytes or its URL. `openAnalysis` of `shelfish/analysis` takes it as `wasm`. */
declare const wasm: object | string;
export default wasm;
