// The package for Node, Deno and Bun: the module is inside, as servers' bundles leave files behind, and databases may be
// folders.

import { named } from "./directory.js";
import { platform } from "./load.js";
import { bytes } from "./text.js";
import text from "./wasm.js";

platform.wasm = () => bytes(text);
platform.source = named;

export { directory } from "./directory.js";
export * from "./index.js";
