// The package for browsers: the module lies beside it, which bundlers see by this very expression.

import { platform } from "./load.js";

platform.wasm = () => new URL("shelfish_bg.wasm", import.meta.url);

export * from "./index.js";
