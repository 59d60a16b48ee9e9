// For browsers: the module and the Worker are next to the JavaScript. Bundlers recognise these expressions.

import { platform, viteAdvice } from "../shared/load.js";
import { trustedUrl, workers } from "./workers.js";

platform.wasm = () => ({
  url: new URL("shelfish_engine_bg.wasm", import.meta.url),
  sha256: SHA256.shelfish_engine_bg,
});
workers.make = () => {
  try {
    return new Worker(new URL("./engine-worker.js", import.meta.url), {
      type: "module",
    });
  } catch {
    // The page requires Trusted Types. Bundlers would not find the Worker in this expression.
    return new Worker(
      trustedUrl(new URL("./engine-worker.js", import.meta.url).href),
      { type: "module" },
    );
  }
};
workers.advice = viteAdvice(import.meta.url) ?? workers.advice;

export * from "./engine.js";
