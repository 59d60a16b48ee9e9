// An engine of several Workers that speak UCI, for the analysis of games.

import { enter, enterSync, failed } from "../shared/errors.js";
import {
  checked,
  fenList,
  type Kinds,
  limit,
  limits,
  SEARCH,
  usage,
} from "../shared/options.js";
import { startUci, trusted, type Uci } from "./uci.js";
import type {
  Evaluated,
  UciEngineOptions,
  UciSequenceOptions,
} from "./types.js";

const OPEN: Kinds<UciEngineOptions> = {
  worker: "function",
  name: "text",
  workers: "other",
  options: "other",
};
const SEQUENCE: Kinds<UciSequenceOptions> = { ...SEARCH, onAnswer: "function" };

/** A Worker, once it is started. */
interface Slot {
  uci: Promise<Uci> | undefined;
  /** Number of positions that wait for the Worker. */
  pending: number;
}

/** An engine for `analyseGame`. {@link openUciEngine} returns it. */
export class UciEngine {
  /** Name and version, under which results are stored. */
  readonly name: string;
  #options: UciEngineOptions;
  #slots: Slot[];
  #isOpen = true;

  private constructor(options: UciEngineOptions) {
    this.#options = options;
    this.name = options.name;
    this.#slots = Array.from(
      { length: limit("workers", options.workers, 64) ?? 1 },
      () => ({ uci: undefined, pending: 0 }),
    );
  }

  /** @internal */
  static of(options: UciEngineOptions): UciEngine {
    return new UciEngine(options);
  }

  /**
   * Searches legal positions in order in a Worker, which forgets earlier searches first. Different calls use different
   * Workers at the same time. The default limit is a depth of 12.
   *
   * Rejects with a {@link ShelfishError}: `usage`, `aborted`, `closed` and `engine`.
   */
  analyseSequence(
    fens: Iterable<string>,
    options?: UciSequenceOptions,
  ): Promise<Evaluated[]> {
    return enter(async () => {
      const call = checked("analyseSequence", options, SEQUENCE);
      const positions = fenList("analyseSequence", fens).map((fen) =>
        trusted(fen.trim().split(/\s+/)),
      );
      const slot = this.#slots.reduce((least, slot) =>
        slot.pending < least.pending ? slot : least,
      );
      slot.pending += positions.length;
      try {
        const uci = await (slot.uci ??= this.#start(slot));
        return await uci.analyseSequence(positions, {
          ...call,
          ...limits(call, 12),
        });
      } finally {
        slot.pending -= positions.length;
      }
    });
  }

  /** Ends the Workers. Running searches reject with code `closed`. */
  close(): void {
    this.#isOpen = false;
    for (const { uci } of this.#slots)
      uci?.then((uci) => uci.close()).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #start(slot: Slot): Promise<Uci> {
    if (!this.#isOpen) throw failed("closed", "the engine was closed");
    const { worker, options } = this.#options;
    return startUci(this.name, worker, () => (slot.uci = undefined), options);
  }
}

/**
 * Opens an engine whose Workers speak UCI, such as the package `stockfish`, for `analyseGame` of `shelfish/analysis`. Workers start
 * when they are needed.
 *
 * ```js
 * const engine = openUciEngine({ name: "Stockfish 19", worker: () => new Worker("/stockfish/stockfish-19-lite-single.js") });
 * const { report } = await analysis.analyseGame(pgn, { engine });
 * ```
 *
 * Throws a {@link ShelfishError} with code `usage`.
 */
export function openUciEngine(options: UciEngineOptions): UciEngine {
  return enterSync(() => {
    const given = checked("openUciEngine", options, OPEN);
    for (const name of ["worker", "name"] as const) {
      if (!given[name]) throw usage(`openUciEngine: ${name} is missing`);
    }
    return UciEngine.of(given);
  });
}
