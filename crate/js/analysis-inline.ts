// The analysis with its module inside of it: for where nothing can be loaded from beside it, and for Node.

import text from "./analysis-wasm.js";
import { platform } from "./load.js";
import { bytes } from "./text.js";

platform.wasm = () => bytes(text);

export * from "./analysis.js";
