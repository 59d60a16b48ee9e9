// The package with the module inside of it, for where nothing can be loaded from beside it.

import { platform } from "./load.ts";
import { bytes } from "./text.ts";

platform.wasm = bytes;

export * from "./index.js";
