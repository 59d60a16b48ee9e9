// The engine in Workers, for positions that no database contains. The page only schedules searches.
/// <reference lib="esnext.disposable" preserve="true" />

import { onAbort, throwIfAborted, unlessAborted } from "../shared/abort.js";
import {
  enter,
  type ErrorCode,
  failed,
  ShelfishError,
} from "../shared/errors.js";
import { compiled, TIMEOUT } from "../shared/load.js";
import {
  checked,
  fenList,
  fenText,
  joinMoves,
  type Kinds,
  limit,
  limits,
  SEARCH,
  SEQUENCE,
  usage,
} from "../shared/options.js";
import type {
  AnalyseOptions,
  Clock,
  EngineEvaluation,
  EngineOptions,
  EngineWorker,
  SequenceOptions,
} from "../shared/types.js";
import type { FromWorker, Search, ToWorker } from "./messages.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "../shared/errors.js";
export type * from "../shared/types.js";

/**
 * Parts that depend on the host. Each entry sets them.
 * @internal
 */
export const workers: { make: () => EngineWorker; advice: string } = {
  make: () => {
    throw new TypeError("no Worker");
  },
  advice:
    'pass openEngine({ worker: () => new Worker(url, { type: "module" }) }) with a script that imports "shelfish/engine-worker.js"',
};

/** A module with an instruction of SIMD: a function that makes a value of 128 bits and drops it. */
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0,
  65, 0, 253, 15, 26, 11,
];

/** The signature that `lab bench` prints. It changes with the moves of the engine. */
const SIGNATURE = "e34a3e526109";

/** Name and version of the engine, {@link Engine.name}, before an engine is opened. */
export const engineName = `Shelfish ${SIGNATURE}`;

const MODULE = {
  entry: "shelfish/engine",
  file: "shelfish_engine_bg.wasm",
  call: "openEngine({ wasm })",
};

const OPEN: Kinds<EngineOptions> = {
  workers: "other",
  memoryBytes: "other",
  worker: "function",
  wasm: "other",
  timeout: "least1",
  signal: "signal",
};
const ANALYSE: Kinds<AnalyseOptions> = {
  ...SEARCH,
  san: "flag",
  moves: "other",
  searchMoves: "other",
  clock: "object",
  mate: "other",
  elo: "other",
  seed: "other",
  onInfo: "function",
};
const CLOCK: Kinds<Clock> = {
  time: "least0",
  increment: "least0",
  moves: "least0",
  overhead: "least0",
};
/** Searches of a Worker that wait or run, in order. */
interface Job {
  /** The running search, and the searches after it. */
  searches: Search[];
  /** Whether the searches are a sequence. The Worker then forgets earlier searches first. */
  isSequence: boolean;
  found: EngineEvaluation[];
  resolve: (found: EngineEvaluation[]) => void;
  reject: (error: ShelfishError) => void;
  onInfo: ((found: EngineEvaluation) => void) | undefined;
  onAnswer: ((index: number, found: EngineEvaluation) => void) | undefined;
}

interface Slot {
  worker: EngineWorker;
  /** Ends a Worker that does not start. */
  timer?: ReturnType<typeof setTimeout> | undefined;
  job?: Job | undefined;
}

/** An engine. {@link openEngine} returns it. */
export class Engine {
  /** Name and version of the engine. Results of another version may differ. */
  readonly name = engineName;
  #options: EngineOptions;
  /** Undefined until it is loaded. */
  #module: WebAssembly.Module | undefined;
  #slots: Slot[] = [];
  #queue: Job[] = [];
  #last = 0;
  #isOpen = true;

  private constructor(options: EngineOptions) {
    this.#options = options;
    // The first Worker starts while the module loads.
    this.#start();
  }

  /** @internal */
  static of(options: EngineOptions): Engine {
    return new Engine(options);
  }

  /** @internal Use {@link openEngine}. */
  async receive(module: Promise<WebAssembly.Module>): Promise<void> {
    try {
      this.#module = await unlessAborted(
        module,
        this.#options.signal,
        "loading",
      );
    } catch (error) {
      this.close();
      throw error;
    }
    this.#slots.forEach(({ worker }) => this.#sendModule(worker));
  }

  /**
   * Searches a position. Positions wait for a free Worker, and go before sequences.
   *
   * Without `depth`, `nodes`, `movetime`, `clock`, `mate` and `elo` the search ends when `signal` is aborted, and returns its last
   * iteration.
   * An abort rejects with code `aborted` if the search has a limit.
   *
   * Rejects with a {@link ShelfishError}: `fen`, `over`, `usage`, `aborted`, `closed`, `engine`.
   */
  analyse<San extends boolean = boolean>(
    fen: string,
    options?: AnalyseOptions<San>,
  ): Promise<EngineEvaluation<San>> {
    return enter(async () => {
      const call = checked<AnalyseOptions>("analyse", options, ANALYSE);
      const search = this.#search("analyse", fen, call);
      const [found] = await this.#run([search], false, call);
      return found as EngineEvaluation<San>;
    });
  }

  /**
   * Searches positions in order in a Worker that forgets earlier searches first. The results depend on the positions
   * and the limit, and not on earlier calls. Neighbouring positions of a game share the transposition table. Several sequences
   * run in parallel. The default limit is a depth of 12.
   *
   * Rejects with a {@link ShelfishError} if a position fails.
   */
  analyseSequence(
    fens: Iterable<string>,
    options?: SequenceOptions<EngineEvaluation>,
  ): Promise<EngineEvaluation[]> {
    return enter(() => {
      const call = checked("analyseSequence", options, SEQUENCE);
      const searches = fenList("analyseSequence", fens).map((fen) =>
        this.#search("analyseSequence", fen, { ...call, ...limits(call, 12) }),
      );
      return this.#run(searches, true, call);
    });
  }

  /**
   * Clears the transposition tables, so that the next searches find the same as a new engine. A running search continues.
   */
  async clear(): Promise<void> {
    for (const { worker } of this.#slots)
      worker.postMessage({ clear: true } satisfies ToWorker);
  }

  /** Ends the Workers. Running searches reject with code `closed`. May be called again. */
  close(): void {
    this.#isOpen = false;
    const closed = failed("closed", "the engine was closed");
    for (const { worker, timer, job } of this.#slots.splice(0)) {
      clearTimeout(timer);
      worker.terminate();
      job?.reject(closed);
    }
    for (const job of this.#queue.splice(0)) job.reject(closed);
  }

  /** Closes the engine at the end of a block: `using engine = await openEngine()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns a checked search. */
  #search(call: string, fen: string, options: AnalyseOptions): Search {
    const { depth = 0, nodes = 0, movetime = 0, multiPv } = limits(options);
    return {
      id: ++this.#last,
      fen: fenText(call, fen),
      moves: joinMoves("moves", options.moves ?? []),
      searchMoves: joinMoves("searchMoves", options.searchMoves ?? []),
      ...{ depth, nodes, movetime, multiPv },
      mate: limit("mate", options.mate, 1000) ?? 0,
      clock: options.clock && clockOf(call, options.clock),
      chess960: options.castling === "chess960",
      san: options.san === true,
      elo: limit("elo", options.elo, 9999) ?? 0,
      seed:
        limit("seed", options.seed, 2 ** 53 - 1, 0) ??
        Math.floor(Math.random() * 2 ** 53),
      reports: !!options.onInfo,
    };
  }

  /** Runs searches in order in the next free Worker. */
  async #run(
    searches: Search[],
    isSequence: boolean,
    {
      signal,
      onInfo,
      onAnswer,
    }: Pick<AnalyseOptions, "signal" | "onInfo"> &
      Pick<SequenceOptions<EngineEvaluation>, "onAnswer">,
  ): Promise<EngineEvaluation[]> {
    if (!this.#isOpen) throw failed("closed", "the engine was closed");
    const [search] = searches;
    if (!search) return [];
    // An abort is the only end of a search without limits, and loses nothing.
    const isEndless = !(
      search.depth ||
      search.nodes ||
      search.movetime ||
      search.clock ||
      search.mate ||
      search.elo
    );
    throwIfAborted(signal, "the search");
    let job!: Job;
    const searching = new Promise<EngineEvaluation[]>((resolve, reject) => {
      const calls = { resolve, reject, onInfo, onAnswer };
      job = { searches, isSequence, found: [], ...calls };
      if (isSequence) this.#queue.push(job);
      else this.#queue.unshift(job);
    });
    const stop = () => {
      const slot = this.#slots.find((slot) => slot.job === job);
      if (slot) {
        slot.worker.postMessage({
          stop: job.searches[0]!.id,
        } satisfies ToWorker);
        job.searches.length = 1;
        job.onInfo = job.onAnswer = undefined;
      } else if (isEndless && this.#queue.includes(job)) {
        // No Worker was free.
        job.reject(failed("aborted", "the search was aborted", signal?.reason));
      }
      this.#queue = this.#queue.filter((other) => other !== job);
    };
    const remove = signal && onAbort(signal, stop);
    this.#next();
    return (
      isEndless ? searching : unlessAborted(searching, signal, "the search")
    ).finally(remove);
  }

  /** Passes waiting jobs to free Workers. */
  #next(): void {
    while (this.#queue.length > 0) {
      const workers = limit("workers", this.#options.workers, 64) ?? 1;
      const slot =
        this.#slots.find((slot) => !slot.job) ??
        (this.#slots.length < workers ? this.#start() : undefined);
      if (!slot) return;
      const job = this.#queue.shift()!;
      slot.job = job;
      if (job.isSequence)
        slot.worker.postMessage({ clear: true } satisfies ToWorker);
      slot.worker.postMessage(job.searches[0]! satisfies ToWorker);
    }
  }

  #start(): Slot | undefined {
    let worker: EngineWorker;
    try {
      worker = (this.#options.worker ?? workers.make)();
      this.#sendModule(worker);
    } catch (cause) {
      const error =
        cause instanceof ShelfishError
          ? cause
          : missing((cause as Error).message, cause);
      for (const job of this.#queue.splice(0)) job.reject(error);
      return undefined;
    }
    const slot: Slot = { worker };
    this.#slots.push(slot);
    const { timeout = TIMEOUT } = this.#options;
    slot.timer = setTimeout(() => {
      this.#drop(
        slot,
        missing(
          `its script did not run within ${timeout} ms`,
          undefined,
          "timeout",
        ),
      );
      this.#next();
    }, timeout);
    worker.addEventListener(
      "message",
      ({ data: { id, value, error, isOver } }: { data: FromWorker }) => {
        clearTimeout(slot.timer);
        const { job } = slot;
        const isCurrent = job?.searches[0]?.id === id;
        if (isCurrent && !isOver && value) return job.onInfo?.(value);
        if (error?.isFatal) this.#drop(slot, new ShelfishError(error));
        else if (isOver && isCurrent) {
          if (value && !error) {
            const index = job.found.push(value) - 1;
            job.onAnswer?.(index, value);
            job.searches.shift();
            if (job.searches[0])
              return worker.postMessage(job.searches[0] satisfies ToWorker);
          }
          slot.job = undefined;
          if (error) job.reject(new ShelfishError(error));
          else if (value) job.resolve(job.found);
          else job.reject(failed("engine", "the engine found no line"));
        }
        this.#next();
      },
    );
    worker.addEventListener("error", (event: ErrorEvent) => {
      event.preventDefault?.();
      this.#drop(slot, missing(event.message || "there is no such script"));
      this.#next();
    });
    return slot;
  }

  /** Sends the module to a Worker, if the module is loaded. */
  #sendModule(worker: EngineWorker): void {
    if (!this.#module) return;
    const memoryBytes =
      limit("memoryBytes", this.#options.memoryBytes, 1 << 28) ?? 1 << 24;
    worker.postMessage({
      module: this.#module,
      memoryBytes,
    } satisfies ToWorker);
  }

  /** Ends a Worker that failed. The next search starts a new Worker. */
  #drop(slot: Slot, error: ShelfishError): void {
    this.#slots = this.#slots.filter((other) => other !== slot);
    clearTimeout(slot.timer);
    slot.worker.terminate();
    slot.job?.reject(error);
    slot.job = undefined;
  }
}

function clockOf(call: string, clock: Clock): Record<keyof Clock, number> {
  const { time, increment, moves, overhead } = checked(
    call,
    clock,
    CLOCK,
    "clock.",
  );
  if (time === undefined)
    throw usage("clock.time: expected a number of at least 0, found undefined");
  return {
    time,
    increment: increment ?? 0,
    moves: moves ?? 0,
    overhead: overhead ?? 20,
  };
}

function missing(
  why: string,
  cause?: unknown,
  code: ErrorCode = "network",
): ShelfishError {
  return failed(
    code,
    `the engine's Worker could not be started: ${why}; ${workers.advice}`,
    cause,
  );
}

/**
 * Loads the WASM module of the engine once, and starts a Worker.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function openEngine(options?: EngineOptions): Promise<Engine> {
  return enter(async () => {
    const given = checked("openEngine", options, OPEN);
    limit("workers", given.workers, 64);
    limit("memoryBytes", given.memoryBytes, 1 << 28);
    if (!WebAssembly.validate(new Uint8Array(SIMD)))
      throw failed(
        "engine",
        "the engine needs SIMD instructions of WebAssembly: Chrome 91, Firefox 89, Safari 16.4 or later",
      );
    const engine = Engine.of(given);
    await engine.receive(compiled(MODULE, given.wasm, given.timeout));
    return engine;
  });
}
