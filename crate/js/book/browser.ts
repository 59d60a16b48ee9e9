// For browsers: the module is next to the JavaScript. Bundlers recognise this expression.

import { platform } from "../shared/load.js";

platform.wasm = () => new URL("shelfish_book_bg.wasm", import.meta.url);

export * from "./open.js";
