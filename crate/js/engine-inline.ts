// The engine with module and Worker inside of it: for where nothing can be loaded from beside it, and for Node.

import wasm from "./engine-wasm.js";
import script from "./engine-worker-text.js";
import { type EngineWorker, workers } from "./engine.js";
import { platform } from "./load.js";
import { bytes } from "./text.js";

platform.wasm = () => bytes(wasm);
workers.make = () => (typeof Worker === "function" ? inBrowser() : inNode());

function inBrowser(): EngineWorker {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url);
  // Once it has begun it needs its script no longer.
  worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
  return worker;
}

/** What the script expects of a Worker, of Node's. */
const SCOPE = `const { parentPort } = require("node:worker_threads");
globalThis.postMessage = (message) => parentPort.postMessage(message);
parentPort.on("message", (data) => globalThis.onmessage({ data }));
`;

/** A thread keeps the process alive only while it searches. */
function inNode(): EngineWorker {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => any } };
  const threads = process?.getBuiltinModule?.("node:worker_threads");
  if (!threads) throw new TypeError("there are no Workers here: Node 20.16 or later is needed, or openEngine({ worker })");
  const thread = new threads.Worker(SCOPE + script, { eval: true });
  thread.unref();
  thread.on("message", ({ isOver }: { isOver: boolean }) => isOver && thread.unref());
  return {
    postMessage: (message) => {
      if ("fen" in (message as object)) thread.ref();
      thread.postMessage(message);
    },
    addEventListener: (type, listener) =>
      type === "message" ? thread.on("message", (data: unknown) => listener({ data })) : thread.on(type, listener),
    terminate: () => thread.terminate(),
  };
}

export * from "./engine.js";
