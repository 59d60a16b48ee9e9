// The package with the module inside of it, for where nothing can be loaded from beside it.

import { platform } from "./load.js";
import { bytes } from "./text.js";
import text from "./wasm.js";

platform.wasm = () => bytes(text);

export * from "./index.js";
