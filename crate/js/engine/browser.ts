// For browsers: the module and the Worker are next to the JavaScript. Bundlers recognise these expressions.

import { platform, viteAdvice } from "../shared/load.js";
import { trustedUrl, workers } from "./workers.js";

/** The smallest module with an instruction of 128 bits: a function that makes such a value and drops it. */
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0,
  65, 0, 253, 15, 26, 11,
];

platform.wasm = () =>
  WebAssembly.validate(new Uint8Array(SIMD))
    ? {
        url: new URL("shelfish_engine_bg.wasm", import.meta.url),
        sha256: SHA256.shelfish_engine_bg,
      }
    : {
        url: new URL("shelfish_engine_scalar_bg.wasm", import.meta.url),
        sha256: SHA256.shelfish_engine_scalar_bg,
      };
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
