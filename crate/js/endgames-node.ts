// For Node, Deno and Bun: contains the module, because bundles of servers omit files. Opens folders.

import { namedDirectory } from "./shared/directory.js";
import { platform } from "./shared/load.js";
import { decodeModule } from "./shared/decode-module.js";
import text from "./endgames-wasm.js";

platform.wasm = () => decodeModule(text);
platform.source = namedDirectory;

export * from "./endgames/endgames.js";
