// Books for Node, Deno and Bun: the module is inside, and books may be folders.

import text from "./book-wasm.js";
import { named } from "./directory.js";
import { platform } from "./load.js";
import { bytes } from "./text.js";

platform.wasm = () => bytes(text);
platform.source = named;

export * from "./book.js";
