// Contains the module and the script of the Worker, for Node and for hosts that cannot load a second file.

import wasm from "../engine-wasm.js";
import script from "../engine-worker-text.js";
import { platform } from "../shared/load.js";
import { decodeModule } from "../shared/decode-module.js";
import type { EngineWorker } from "./messages.js";
import { trustedUrl, workers } from "./workers.js";

platform.wasm = () => decodeModule(wasm);
workers.advice =
  (typeof Worker === "function"
    ? 'a Content-Security-Policy of the page needs worker-src blob:, or import from "shelfish/engine", or '
    : "") + "pass openEngine({ worker })";
workers.make = () => (typeof Worker === "function" ? inBrowser() : inNode());

function inBrowser(): EngineWorker {
  const url = URL.createObjectURL(
    new Blob([script], { type: "text/javascript" }),
  );
  const worker = new Worker(trustedUrl(url));
  // A Worker that sends messages has loaded its script.
  worker.addEventListener("message", () => URL.revokeObjectURL(url), {
    once: true,
  });
  return worker;
}

/** Gives a thread of Node the globals of a Worker. */
const SCOPE = `const { parentPort } = require("node:worker_threads");
globalThis.postMessage = (message) => parentPort.postMessage(message);
parentPort.on("message", (data) => globalThis.onmessage({ data }));
`;

/** Starts a thread, which keeps the process alive only during a search. */
function inNode(): EngineWorker {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => any };
  };
  const threads = process?.getBuiltinModule?.("node:worker_threads");
  if (!threads)
    throw new TypeError(
      "this host has no Workers: use Node 20.16 or later, or openEngine({ worker })",
    );
  // The options of the process are for its own script: --input-type=module would make this script a module.
  const thread = new threads.Worker(SCOPE + script, {
    eval: true,
    execArgv: [],
  });
  thread.unref();
  thread.on(
    "message",
    ({ isOver }: { isOver: boolean }) => isOver && thread.unref(),
  );
  return {
    postMessage: (message) => {
      if ("fen" in (message as object)) thread.ref();
      thread.postMessage(message);
    },
    addEventListener: (type, listener) =>
      type === "message"
        ? thread.on("message", (data: unknown) => listener({ data }))
        : thread.on(type, listener),
    terminate: () => thread.terminate(),
  };
}

export * from "./engine.js";
