/** The package with the WASM module inside of its JavaScript, for where nothing is loaded from beside it. */
export * from "./index.js";
