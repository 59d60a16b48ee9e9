// Books for browsers: their module lies beside it, which bundlers see by this very expression.

import { platform } from "./load.js";

platform.wasm = () => new URL("shelfish_book_bg.wasm", import.meta.url);

export * from "./book.js";
