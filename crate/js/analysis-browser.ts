// The analysis for browsers: its module lies beside it, which bundlers see by this very expression.

import { platform } from "./load.js";

platform.wasm = () => new URL("shelfish_analysis_bg.wasm", import.meta.url);

export * from "./analysis.js";
