// For browsers: the module is next to the JavaScript. Bundlers recognise this expression.

import { platform } from "../shared/load.js";

platform.wasm = () => new URL("shelfish_explorer_bg.wasm", import.meta.url);

export * from "./explorer.js";
