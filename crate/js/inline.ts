// The package with the module inside of it, for where nothing can be loaded from beside it.

import { platform } from "./load.js";
import { bytes } from "./text.js";

platform.wasm = bytes;

export * from "./index.js";
