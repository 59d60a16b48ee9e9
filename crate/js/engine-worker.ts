// The engine's Worker: searches in slices, and hears between them whether to stop. It needs no SharedArrayBuffer: within
// `pause` the module is suspended, frames and all, as Binaryen's Asyncify does it (see its header file for the protocol).

import { host } from "./engine-host.js";
import type { FromWorker, Search, ToWorker } from "./engine-messages.js";
import { written } from "./score.js";
import { Engine, imports, start } from "./shelfish_engine.js";
import type { Evaluation, Pv } from "./types.js";

/** Milliseconds of a slice. */
const SLICE = 10;
/** States of a module that can be suspended. */
const UNWINDING = 1;
const REWINDING = 2;

interface Suspendable {
  memory: WebAssembly.Memory;
  asyncify_start_unwind(stack: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(stack: number): void;
  asyncify_stop_rewind(): void;
  asyncify_get_state(): number;
}

const scope = globalThis as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: ((event: { data: ToWorker }) => void) | null;
};

let module: Suspendable;
let engine: Engine;
/** The search that is under way or waits for the module, and whether it is to end. */
let current: number | undefined;
let isStopped = false;
/** Whether the next search is to know nothing of earlier ones: while one is suspended the engine cannot forget. */
let isToClear = false;

const { port1, port2 } = new MessageChannel();
const { setImmediate } = globalThis as { setImmediate?: (done: () => void) => void };
/**
 * Lets messages come in: a message to oneself waits behind them, and no timer slows it down. Node, which takes up to a
 * thousand messages of one port before it looks at another, has `setImmediate`.
 */
const turn = () =>
  new Promise<unknown>((done) => (setImmediate ? setImmediate(() => done(null)) : ((port1.onmessage = done), port2.postMessage(null))));

async function run(): Promise<void> {
  // Asked for now: while it searches the engine answers nothing.
  const [stack, bytes] = [engine.stack(), engine.stack_bytes()];
  let end = 0;
  host.pause = () => {
    if (module.asyncify_get_state() === REWINDING) module.asyncify_stop_rewind();
    else if (performance.now() >= end) {
      // Where frames go, and where there is no more room for them.
      new Uint32Array(module.memory.buffer, stack, 2).set([stack + 8, stack + bytes]);
      module.asyncify_start_unwind(stack);
    }
    return isStopped;
  };
  for (;;) {
    end = performance.now() + SLICE;
    engine.run();
    if (module.asyncify_get_state() !== UNWINDING) return;
    module.asyncify_stop_unwind();
    await turn();
    module.asyncify_start_rewind(stack);
  }
}

const list = (words: string) => (words ? words.split(" ") : []);

async function search({ id, fen, moves, searchMoves, depth, nodes, movetime, multiPv, chess960, san, elo, seed, tells }: Search) {
  const begin = performance.now();
  try {
    if (isToClear) engine.clear();
    isToClear = false;
    const canonical = engine.prepare(fen, moves, searchMoves, depth, nodes, movetime, multiPv, chess960, san, elo, seed);
    let pvs: Pv[] = [];
    let value: FromWorker["value"];
    host.found = (more, depth, deepest, nodes, isMate, score, uci, sanLine) => {
      const told = isMate ? { mate: score } : { cp: score };
      pvs.push({ ...told, score: written(told), uci: list(uci), ...(san && { san: list(sanLine) }) });
      if (more) return;
      const milliseconds = performance.now() - begin;
      value = {
        ...{ fen: canonical, from: "engine", depth, deepest, nodes, knodes: Math.round(nodes / 1000), milliseconds },
        pvs: pvs as Evaluation["pvs"],
      };
      pvs = [];
      if (tells) scope.postMessage({ id, value, isOver: false });
    };
    await run();
    if (value) {
      value.milliseconds = performance.now() - begin;
      if (elo) value.chosen = value.pvs[engine.chosen()];
    }
    scope.postMessage({ id, value, isOver: true });
  } catch (error) {
    const told = typeof (error as { code?: unknown } | undefined)?.code === "string";
    // What is no message of ours is a trap, after which the module is not to be used.
    const failure = told ? error : { code: "engine", message: `the engine failed: ${String(error)}`, isFatal: true };
    scope.postMessage({ id, error: failure as NonNullable<FromWorker["error"]>, isOver: true });
  }
  current = undefined;
}

let ready: Promise<void> | undefined;

scope.onmessage = async ({ data }) => {
  if ("module" in data) {
    ready = WebAssembly.instantiate(data.module, imports()).then((instance) => {
      module = instance.exports as unknown as Suspendable;
      start(instance, data.module);
      engine = new Engine(data.memoryBytes);
    });
    return;
  }
  if ("stop" in data) return void (isStopped ||= data.stop === current);
  // Noted now, so that a stop is heard while the module still starts.
  if ("fen" in data) [current, isStopped] = [data.id, false];
  try {
    await ready;
  } catch (cause) {
    const message = `the engine cannot be started: ${(cause as Error).message}`;
    return scope.postMessage({ id: "id" in data ? data.id : 0, error: { code: "engine", message, isFatal: true }, isOver: true });
  }
  if ("clear" in data) return void (isToClear = true);
  return search(data);
};
