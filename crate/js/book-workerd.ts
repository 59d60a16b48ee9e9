// Books for Cloudflare's Workers, which run no modules but those that were compiled when they were uploaded.

import { platform } from "./load.js";
import wasm from "./shelfish_book_bg.wasm";

platform.wasm = () => wasm as WebAssembly.Module;

export * from "./book.js";
