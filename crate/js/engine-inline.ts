// Contains the module and the script of the Worker, for Node, Deno and Bun.

// @ts-expect-error The build writes this file.
import script from "./engine-worker-text.js";
import type { EngineWorker } from "./shared/types.js";
import { workers } from "./engine/engine.js";

workers.make = inNode;

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

export {
  Engine,
  engineName,
  openEngine,
  ShelfishError,
} from "./engine/engine.js";
export type * from "./engine/engine.js";
export { Evaluator, openEvaluator } from "./engine/evaluator.js";
export { openUciEngine, UciEngine } from "./engine/uci-engine.js";
