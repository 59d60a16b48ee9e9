// For browsers: the module is next to the JavaScript. Bundlers recognise this expression.

import { platform } from "./shared/load.js";

platform.wasm = () => ({
  url: new URL("shelfish_analysis_bg.wasm", import.meta.url),
  sha256: SHA256.shelfish_analysis_bg,
});

export * from "./analysis/analysis.js";
