// Books with the module inside of it, for where nothing can be loaded from beside it.

import text from "./book-wasm.js";
import { platform } from "./load.js";
import { bytes } from "./text.js";

platform.wasm = () => bytes(text);

export * from "./book.js";
