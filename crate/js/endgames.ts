// For browsers: the module is next to the JavaScript. Bundlers recognise this expression.

import { platform } from "./shared/load.js";

platform.wasm = () => ({
  url: new URL("shelfish_endgames_bg.wasm", import.meta.url),
  sha256: SHA256.shelfish_endgames_bg,
});

export * from "./endgames/endgames.js";
