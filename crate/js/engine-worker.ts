// The Worker of the engine. It searches in slices, and receives messages between them. It does not need
// SharedArrayBuffer: `pause` suspends the module by Binaryen's Asyncify (its header file describes the protocol).

import { scoreText } from "./shared/score.js";
import type { Evaluation, Pv } from "./shared/types.js";
import { Engine, imports, start } from "./shelfish_engine.js";
import { host } from "./engine/host.js";
import type { FromWorker, Search, ToWorker } from "./engine/messages.js";

/** Milliseconds of a slice. */
const SLICE = 10;
/** States of Asyncify. */
const UNWINDING = 1;
const REWINDING = 2;

interface AsyncifyExports {
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

let module: AsyncifyExports;
let engine: Engine;
/** Id of the search that runs or waits for the module. */
let current: number | undefined;
let isStopped = false;
/** Whether the next search forgets earlier searches. A suspended engine cannot forget. */
let isToClear = false;

const { port1, port2 } = new MessageChannel();
const { setImmediate } = globalThis as {
  setImmediate?: (done: () => void) => void;
};
/**
 * Lets messages arrive: a message to itself waits behind them, and needs no timer. Node reads up to a thousand messages of
 * a port before it reads another port, but has `setImmediate`.
 */
const turn = () =>
  new Promise<unknown>((done) =>
    setImmediate
      ? setImmediate(() => done(null))
      : ((port1.onmessage = done), port2.postMessage(null)),
  );

async function run(): Promise<void> {
  // Read before the search, because a suspended engine cannot be called.
  const [stack, bytes] = [engine.stack(), engine.stack_bytes()];
  let end = 0;
  host.pause = () => {
    if (module.asyncify_get_state() === REWINDING)
      module.asyncify_stop_rewind();
    else if (performance.now() >= end) {
      // Start and end of the memory for the frames.
      new Uint32Array(module.memory.buffer, stack, 2).set([
        stack + 8,
        stack + bytes,
      ]);
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

async function search({
  id,
  fen,
  moves,
  searchMoves,
  depth,
  nodes,
  movetime,
  mate,
  clock,
  multiPv,
  chess960,
  san,
  elo,
  seed,
  reports,
}: Search) {
  const begin = performance.now();
  try {
    if (isToClear) engine.clear();
    isToClear = false;
    const canonical = engine.prepare(
      fen,
      moves,
      searchMoves,
      depth,
      nodes,
      movetime,
      mate,
      multiPv,
      chess960,
      san,
      elo,
      seed,
    );
    if (clock)
      engine.on_clock(clock.time, clock.increment, clock.moves, clock.overhead);
    const isRepeated = engine.is_repeated();
    let pvs: Pv[] = [];
    let value: FromWorker["value"];
    host.report = (
      more,
      depth,
      deepest,
      nodes,
      isMate,
      points,
      uci,
      sanLine,
    ) => {
      const score = isMate ? { mate: points } : { cp: points };
      pvs.push({
        ...score,
        score: scoreText(score),
        uci: list(uci),
        ...(san && { san: list(sanLine) }),
      });
      if (more) return;
      const milliseconds = performance.now() - begin;
      value = {
        ...{
          fen: canonical,
          from: "engine",
          depth,
          deepest,
          nodes,
          knodes: Math.round(nodes / 1000),
          milliseconds,
        },
        pvs: pvs as Evaluation["pvs"],
        ...(isRepeated && { isRepeated }),
      };
      pvs = [];
      if (reports) scope.postMessage({ id, value, isOver: false });
    };
    await run();
    if (value) {
      value.milliseconds = performance.now() - begin;
      if (elo) value.chosen = value.pvs[engine.chosen()];
    }
    scope.postMessage({ id, value, isOver: true });
  } catch (error) {
    const isReported =
      typeof (error as { code?: unknown } | undefined)?.code === "string";
    // Other errors are traps, after which the module is unusable.
    const fields = isReported
      ? error
      : {
          code: "engine",
          message: `the engine failed: ${String(error)}`,
          isFatal: true,
        };
    scope.postMessage({
      id,
      error: fields as NonNullable<FromWorker["error"]>,
      isOver: true,
    });
  }
  current = undefined;
}

// Says that the script runs. No search has this number.
scope.postMessage({ id: 0, isOver: false });

let ready: Promise<void> | undefined;

scope.onmessage = async ({ data }) => {
  if ("module" in data) {
    const compiled = data.module as WebAssembly.Module;
    ready = WebAssembly.instantiate(compiled, imports()).then((instance) => {
      module = instance.exports as unknown as AsyncifyExports;
      start(instance, compiled);
      engine = new Engine(data.memoryBytes);
    });
    return;
  }
  if ("stop" in data) return void (isStopped ||= data.stop === current);
  // Set before the module is ready, so that a stop is not lost.
  if ("fen" in data) [current, isStopped] = [data.id, false];
  try {
    await ready;
  } catch (cause) {
    const message = `the engine cannot be started: ${(cause as Error).message}`;
    return scope.postMessage({
      id: "id" in data ? data.id : 0,
      error: { code: "engine", message, isFatal: true },
      isOver: true,
    });
  }
  if ("clear" in data) return void (isToClear = true);
  return search(data);
};
