// Contains the module, for hosts and bundlers that cannot load a second file.

import { platform } from "./shared/load.js";
import { decodeModule } from "./shared/decode-module.js";
import text from "./analysis-wasm.js";

platform.wasm = () => decodeModule(text);

export * from "./analysis/analysis.js";
