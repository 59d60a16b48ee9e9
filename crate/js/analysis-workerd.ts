// The analysis for Cloudflare's Workers, which run no modules but those that were compiled when they were uploaded.

import { platform } from "./load.js";
import wasm from "./shelfish_analysis_bg.wasm";

platform.wasm = () => wasm as WebAssembly.Module;

export * from "./analysis.js";
