// For Cloudflare's Workers, which only run modules that were compiled at the upload.

import { platform } from "./shared/load.js";
import wasm from "./shelfish_bg.wasm";

platform.wasm = () => wasm as WebAssembly.Module;

export * from "./database/open.js";
