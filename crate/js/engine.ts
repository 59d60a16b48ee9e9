// The engine in Workers: what searches positions that no database has. The page only keeps order here.
/// <reference lib="esnext.disposable" preserve="true" />

import type { EngineEvaluation, FromWorker, Search, ToWorker } from "./engine-messages.js";
import { unlessAborted } from "./abort.js";
import { type ErrorCode, ShelfishError } from "./errors.js";
import { compiled } from "./load.js";
import { limit, limits } from "./options.js";
import type { SanOf, Wasm } from "./types.js";

export type { EngineEvaluation } from "./engine-messages.js";
export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type { Evaluation, PositionEval, Pv, Score, Wasm } from "./types.js";

/** A Worker, as much of it as is needed; `Worker` of browsers is one. */
export interface EngineWorker {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  terminate(): unknown;
}

/** How the engine is loaded. */
export interface EngineOptions {
  /** Workers that search side by side, each a position of its own. Default 1. They are started when they are needed. */
  workers?: number | undefined;
  /** Bytes of the transposition table of each Worker. Default 16 MiB, at most 256 MiB. */
  memoryBytes?: number | undefined;
  /**
   * Makes a Worker, if the file `engine-worker.js` beside the package's JavaScript cannot be had: one whose script imports
   * `shelfish/engine-worker`.
   */
  worker?: (() => EngineWorker) | undefined;
  /** Where the WASM module comes from, in the forms that `openDatabase` takes. */
  wasm?: Wasm | PromiseLike<Wasm> | undefined;
  /** Aborts the loading. */
  signal?: AbortSignal | undefined;
}

/** How a position is analysed. Without `depth`, `nodes`, `movetime` and `elo` the search goes on until it is aborted. */
export interface AnalyseOptions {
  /** Plies to search, at most 127. */
  depth?: number | undefined;
  /** Nodes to search, exactly. */
  nodes?: number | undefined;
  /** Milliseconds to search. */
  movetime?: number | undefined;
  /** Lines that are wanted, best first. Default 1. */
  multiPv?: number | undefined;
  /** Moves in UCI that were played from the position: the last one is analysed, and what it repeats is known. */
  moves?: readonly string[] | undefined;
  /** Moves in UCI to look at. Default all. */
  searchMoves?: readonly string[] | undefined;
  /**
   * Thinks as a player of this rating, from 800 to 2600 (measured up to 2300, an estimate above): it looks at fewer positions, and `chosen` of the
   * answer is the move it plays, now one and now another of those it holds for about as good. Other limits hold, too.
   */
  elo?: number | undefined;
  /** With `elo`: the same number gives the same choice. Default: another one each time. */
  seed?: number | undefined;
  /** Ends the search, within some 20 ms. */
  signal?: AbortSignal | undefined;
  /** Hears what was found so far, after each iteration. */
  onInfo?: ((found: EngineEvaluation) => void) | undefined;
  /** How castling is written in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Whether to write lines in SAN too. Default `false`. */
  san?: boolean | undefined;
}

/** How many positions are analysed: as one, and `onAnswer` hears of each as it is found. */
export interface AnalyseManyOptions extends Omit<AnalyseOptions, "moves" | "searchMoves" | "elo" | "seed" | "onInfo"> {
  /** Hears of each position, with its place in the list. */
  onAnswer?: ((index: number, answer: EngineEvaluation | ShelfishError) => void) | undefined;
}

/** What depends on where the package runs; its entries fill it in. */
export const workers: { make: () => EngineWorker; advice: string } = {
  make: () => {
    throw new TypeError("no Worker");
  },
  advice: 'if a bundler left its script out, import from "shelfish/engine/inline", or give openEngine({ worker })',
};

const MODULE = { entry: "shelfish/engine", file: "shelfish_engine_bg.wasm", call: "openEngine({ wasm })" };

const failed = (code: ErrorCode, message: string, cause?: unknown) => new ShelfishError({ code, message }, cause);

function listed(name: string, moves: unknown): string {
  if (moves === undefined || moves === null) return "";
  if (!Array.isArray(moves)) throw failed("usage", `${name}: expected a list of moves in UCI, found ${typeof moves}`);
  const n = moves.findIndex((move) => typeof move !== "string" || !/^\S+$/.test(move));
  if (n >= 0) throw failed("usage", `${name}[${n}]: expected a move in UCI, found ${String(moves[n]).slice(0, 20)}`);
  return moves.join(" ");
}

/** A search that waits or is under way. */
interface Job {
  search: Search;
  resolve: (value: EngineEvaluation) => void;
  reject: (error: ShelfishError) => void;
  onInfo: ((found: EngineEvaluation) => void) | undefined;
}

interface Hand {
  worker: EngineWorker;
  job?: Job | undefined;
}

/** The engine. {@link openEngine} makes it. */
export class Engine {
  #options: EngineOptions;
  /** Undefined while it is on its way. */
  #module: WebAssembly.Module | undefined;
  #hands: Hand[] = [];
  #queue: Job[] = [];
  #last = 0;
  #isOpen = true;

  /** @internal Use {@link openEngine}. */
  constructor(options: EngineOptions) {
    this.#options = options;
    // The first Worker starts while the module travels.
    this.#start();
  }

  /** @internal Use {@link openEngine}. */
  async receive(module: Promise<WebAssembly.Module>): Promise<void> {
    try {
      this.#module = await unlessAborted(module, this.#options.signal, "loading");
    } catch (error) {
      this.close();
      throw error;
    }
    this.#hands.forEach(({ worker }) => this.#equip(worker));
  }

  /**
   * Searches a position. Positions wait for a Worker that is free; those asked for here come before those of
   * `analyseMany`.
   *
   * Rejects with a {@link ShelfishError}: `fen`, `over`, `usage`, `aborted`, `closed`, `engine`.
   */
  async analyse<O extends AnalyseOptions>(fen: string, options?: O): Promise<EngineEvaluation<SanOf<O>>> {
    return this.#ask(fen, options ?? {}, true) as Promise<EngineEvaluation<SanOf<O>>>;
  }

  /**
   * Searches positions side by side, as many at a time as there are Workers; answers in the same order. What cannot be
   * answered has its error as its entry; without limits each position gets a depth of 12.
   *
   * Rejects with a {@link ShelfishError} if it was aborted or the engine closed.
   */
  async analyseMany<O extends AnalyseManyOptions>(
    fens: Iterable<string>,
    options?: O,
  ): Promise<Array<EngineEvaluation<SanOf<O>> | ShelfishError>> {
    if (typeof fens === "string" || typeof fens?.[Symbol.iterator] !== "function") {
      throw failed("usage", `analyseMany: expected a list of FENs, found ${typeof fens}`);
    }
    const { onAnswer, ...rest } = options ?? {};
    const search = { ...rest, ...limits(rest, 12) };
    const work = Array.from(fens, async (fen, index) => {
      const answer = await this.#ask(fen, search, false).catch((error: ShelfishError) => {
        if (error.code === "aborted" || error.code === "closed") throw error;
        return error;
      });
      onAnswer?.(index, answer);
      return answer;
    });
    return Promise.all(work) as Promise<Array<EngineEvaluation<SanOf<O>> | ShelfishError>>;
  }

  /**
   * Forgets what earlier searches learned, so that the next ones find the same as a new engine. A search that is under way
   * goes on.
   */
  async clear(): Promise<void> {
    for (const { worker } of this.#hands) worker.postMessage({ clear: true } satisfies ToWorker);
  }

  /** Ends the Workers; searches under way reject with code `closed`. May be called again. */
  close(): void {
    this.#isOpen = false;
    const closed = failed("closed", "the engine was closed");
    for (const { worker, job } of this.#hands.splice(0)) {
      worker.terminate();
      job?.reject(closed);
    }
    for (const job of this.#queue.splice(0)) job.reject(closed);
  }

  /** Closes it at the end of a block: `using engine = await openEngine()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #ask(fen: string, options: AnalyseOptions, isFirst: boolean): Promise<EngineEvaluation> {
    if (!this.#isOpen) throw failed("closed", "the engine was closed");
    const { signal, onInfo, castling, san } = options;
    if (castling !== undefined && castling !== "standard" && castling !== "chess960") {
      throw failed("usage", `castling: expected "standard" or "chess960", found ${String(castling).slice(0, 20)}`);
    }
    const { depth = 0, nodes = 0, movetime = 0 } = limits(options);
    const search: Search = {
      id: ++this.#last,
      fen: String(fen),
      moves: listed("moves", options.moves),
      searchMoves: listed("searchMoves", options.searchMoves),
      ...{ depth, nodes, movetime },
      multiPv: limit("multiPv", options.multiPv, 256) ?? 1,
      chess960: castling === "chess960",
      san: san === true,
      elo: limit("elo", options.elo, 9999) ?? 0,
      seed: limit("seed", options.seed, 2 ** 53 - 1) ?? Math.floor(Math.random() * 2 ** 53),
      tells: !!onInfo,
    };
    const aborted = () => failed("aborted", "the search was aborted", signal?.reason);
    if (signal?.aborted) throw aborted();
    const searching = new Promise<EngineEvaluation>((resolve, reject) => {
      const job = { search, resolve, reject, onInfo };
      if (isFirst) this.#queue.unshift(job);
      else this.#queue.push(job);
    });
    const abort = () => {
      const at = this.#queue.findIndex((job) => job.search === search);
      const job = at >= 0 ? this.#queue.splice(at, 1)[0] : undefined;
      const hand = this.#hands.find((hand) => hand.job?.search === search);
      hand?.worker.postMessage({ stop: search.id } satisfies ToWorker);
      if (hand?.job) hand.job.onInfo = undefined;
      (job ?? hand?.job)?.reject(aborted());
    };
    signal?.addEventListener("abort", abort);
    this.#next();
    return searching.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Gives a job that waits to a Worker that does not. */
  #next(): void {
    while (this.#queue.length > 0) {
      const many = limit("workers", this.#options.workers, 64) ?? 1;
      const hand = this.#hands.find((hand) => !hand.job) ?? (this.#hands.length < many ? this.#start() : undefined);
      if (!hand) return;
      hand.job = this.#queue.shift();
      hand.worker.postMessage(hand.job!.search satisfies ToWorker);
    }
  }

  #start(): Hand | undefined {
    let worker: EngineWorker;
    try {
      worker = (this.#options.worker ?? workers.make)();
      this.#equip(worker);
    } catch (cause) {
      const error = cause instanceof ShelfishError ? cause : missing((cause as Error).message, cause);
      for (const job of this.#queue.splice(0)) job.reject(error);
      return undefined;
    }
    const hand: Hand = { worker };
    this.#hands.push(hand);
    worker.addEventListener("message", ({ data: { id, value, error, isOver } }: { data: FromWorker }) => {
      const { job } = hand;
      if (job && job.search.id === id && !isOver && value) return job.onInfo?.(value);
      if (error?.isFatal) this.#lose(hand, new ShelfishError(error));
      else if (isOver && job?.search.id === id) {
        hand.job = undefined;
        if (error) job.reject(new ShelfishError(error));
        else if (value) job.resolve(value);
      }
      this.#next();
    });
    worker.addEventListener("error", (event: ErrorEvent) => {
      event.preventDefault?.();
      this.#lose(hand, missing(event.message || "there is no such script"));
      this.#next();
    });
    return hand;
  }

  /** Gives the module to a Worker, once it is there. */
  #equip(worker: EngineWorker): void {
    if (!this.#module) return;
    const memoryBytes = limit("memoryBytes", this.#options.memoryBytes, 1 << 28) ?? 1 << 24;
    worker.postMessage({ module: this.#module, memoryBytes } satisfies ToWorker);
  }

  /** A Worker that failed is ended; another one is started when it is needed. */
  #lose(hand: Hand, error: ShelfishError): void {
    this.#hands = this.#hands.filter((other) => other !== hand);
    hand.worker.terminate();
    hand.job?.reject(error);
    hand.job = undefined;
  }
}

function missing(why: string, cause?: unknown): ShelfishError {
  return failed("network", `the engine's Worker could not be started: ${why}; ${workers.advice}`, cause);
}

/**
 * Loads the WASM module of the engine, once, and starts a Worker with it.
 *
 * Rejects with a {@link ShelfishError}.
 */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  limit("workers", options.workers, 64);
  limit("memoryBytes", options.memoryBytes, 1 << 28);
  const engine = new Engine(options);
  await engine.receive(compiled(MODULE, options.wasm));
  return engine;
}
