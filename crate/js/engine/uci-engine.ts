// Engines in Workers that speak UCI line by line, such as the package `stockfish`, for the analysis of games.

import { onAbort, throwIfAborted, unlessAborted } from "../shared/abort.js";
import {
  enter,
  enterSync,
  failed,
  type ShelfishError,
} from "../shared/errors.js";
import {
  checked,
  fenList,
  type Kinds,
  limit,
  limits,
  SEQUENCE,
  usage,
} from "../shared/options.js";
import { Parts } from "../shared/parts.js";
import { scoreText } from "../shared/score.js";
import type {
  EngineWorker,
  Evaluated,
  Evaluation,
  Pv,
  SequenceOptions,
  UciEngineOptions,
} from "../shared/types.js";

/** Milliseconds until an engine that does not answer counts as failed. */
const TIMEOUT = 60_000;

/** A Worker that speaks UCI. It answers questions in order. After a failure it is closed. */
class Uci {
  #worker: EngineWorker;
  #onError: () => void;
  /** Receives lines of the engine. */
  #receive: (line: string) => void = () => {};
  /** Rejects the current question. */
  #fail: (error: ShelfishError) => void = () => {};
  #error: ShelfishError | undefined;
  #last: Promise<unknown>;

  constructor(
    worker: EngineWorker,
    onError: () => void,
    options: UciEngineOptions["options"] = {},
  ) {
    this.#worker = worker;
    this.#onError = onError;
    worker.addEventListener("message", ({ data }: { data: unknown }) => {
      for (const line of String(data).split("\n")) this.#receive(line.trim());
    });
    worker.addEventListener("error", (event: ErrorEvent) => {
      event.preventDefault?.();
      const why = event.message || "there is no such script";
      this.#end(failed("engine", `Stockfish's Worker failed: ${why}`));
    });
    const lines = Object.entries(options).map(
      ([name, value]) => `setoption name ${name} value ${value}`,
    );
    this.#last = this.#until("uciok", "uci").then(() =>
      this.#until("readyok", ...lines, "isready"),
    );
    this.#last.catch(() => {});
  }

  /** Searches legal positions in order, after the earlier questions, and forgets earlier searches first. */
  async analyseSequence(
    fens: readonly string[],
    options: SequenceOptions<Evaluated>,
  ): Promise<Evaluated[]> {
    const { signal, onAnswer } = options;
    throwIfAborted(signal, "the search");
    const result = this.#last.then(async () => {
      await this.#until("readyok", "ucinewgame", "isready");
      const results: Evaluated[] = [];
      for (const [index, fen] of fens.entries()) {
        const found = await this.#search(fen, options);
        results.push(found);
        onAnswer?.(index, found);
      }
      return results;
    });
    // After an abort or a failure, the next question is asked too.
    this.#last = result.catch(() => {});
    return unlessAborted(result, signal, "the search");
  }

  /** Ends the Worker. Questions reject with code `closed`. */
  close(): void {
    this.#end(failed("closed", "the engine was closed"));
  }

  #end(error: ShelfishError): void {
    if (this.#error) return;
    this.#error = error;
    this.#fail(error);
    this.#worker.terminate();
    this.#onError();
  }

  /** Sends lines, and waits for a line that is the last of the answer. */
  #ask(lines: string[], isLast: (line: string) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#error) return reject(this.#error);
      this.#fail = reject;
      this.#receive = (line) => isLast(line) && resolve();
      for (const line of lines) this.#worker.postMessage(line);
    });
  }

  /** Sends lines, and waits for a line that starts with `word`. */
  #until(word: string, ...lines: string[]): Promise<void> {
    const late = () =>
      this.#end(failed("engine", `Stockfish did not answer ${word}`));
    const timer = setTimeout(late, TIMEOUT);
    return this.#ask(lines, (line) => line.startsWith(word)).finally(() =>
      clearTimeout(timer),
    );
  }

  /** Searches. After an abort the caller is already informed, but the search must end before the next search. */
  async #search(
    fen: string,
    { signal, multiPv, castling, depth, nodes }: SequenceOptions<Evaluated>,
  ): Promise<Evaluated> {
    await this.#until(
      "readyok",
      `setoption name MultiPV value ${multiPv}`,
      `setoption name UCI_Chess960 value ${castling === "chess960"}`,
      "isready",
    );
    signal?.throwIfAborted();
    const sign = fen.split(" ")[1] === "b" ? -1 : 1;
    let lines: Pv[] = [];
    let found: Evaluated | undefined;
    const isLast = (line: string): boolean => {
      if (line.startsWith("bestmove")) return true;
      const info = parseInfo(line, sign);
      if (!info || signal?.aborted) return false;
      const { rank, pv, ...effort } = info;
      if (rank > lines.length + 1) return false;
      // A search may end between the lines of a depth. The other lines then keep their scores of the depth before.
      lines[rank - 1] = pv;
      lines = lines.filter(
        (other) => other === pv || other.uci[0] !== pv.uci[0],
      );
      const position = fen.split(" ").slice(0, 4).join(" ");
      const pvs = [...lines] as Evaluation["pvs"];
      found = { from: "stockfish", fen: position, ...effort, pvs };
      return false;
    };
    const limit = `${depth ? ` depth ${depth}` : ""}${nodes ? ` nodes ${nodes}` : ""}`;
    const stop = () => this.#worker.postMessage("stop");
    const remove = signal && onAbort(signal, stop);
    await this.#ask([`position fen ${fen}`, `go${limit}`], isLast).finally(
      remove,
    );
    if (found) return found;
    throw failed("engine", "Stockfish found no line");
  }
}

/** Parses a line of `info` with an exact score, from White's point of view. */
function parseInfo(
  line: string,
  sign: 1 | -1,
): { rank: number; depth: number; knodes: number; pv: Pv } | undefined {
  if (!line.startsWith("info ") || / (lower|upper)bound /.test(line))
    return undefined;
  const word = (name: string) =>
    new RegExp(` ${name} (-?\\d+)`).exec(line)?.[1];
  const [, kind, number] = / score (cp|mate) (-?\d+)/.exec(line) ?? [];
  // Some engines add other words after the moves.
  const [, moves] =
    / pv((?: [a-h][1-8][a-h][1-8][qrbn]?)+)(?: |$)/.exec(line) ?? [];
  if (!kind || !moves || !word("depth")) return undefined;
  // Adds 0, because -1 * 0 is -0.
  const value = sign * Number(number) + 0;
  const score = kind === "mate" ? { mate: value } : { cp: value };
  const pv: Pv = {
    ...score,
    score: scoreText(score),
    uci: moves.trim().split(" "),
  };
  const knodes = Math.round(Number(word("nodes") ?? 0) / 1000);
  return {
    rank: Number(word("multipv") ?? 1),
    depth: Number(word("depth")),
    knodes,
    pv,
  };
}

const OPEN: Kinds<UciEngineOptions> = {
  worker: "function",
  name: "text",
  workers: "other",
  options: "other",
};

/** An engine for `analyseGame`. {@link openUciEngine} returns it. */
export class UciEngine {
  /** Name and version, under which results are stored. */
  readonly name: string;
  #options: UciEngineOptions;
  /** The Workers by their number. */
  #parts = new Parts();
  /** Number of positions that wait for each Worker. */
  #pending: number[];
  #isOpen = true;

  /** @internal */
  constructor(options: UciEngineOptions) {
    this.#options = options;
    this.name = options.name;
    const workers = limit("workers", options.workers, 64) ?? 1;
    this.#pending = Array.from({ length: workers }, () => 0);
  }

  /**
   * Searches legal positions in order in a Worker, which forgets earlier searches first. Different calls use different
   * Workers at the same time. The default limit is a depth of 12.
   *
   * Rejects with a {@link ShelfishError}: `usage`, `aborted`, `closed` and `engine`.
   */
  analyseSequence(
    fens: Iterable<string>,
    options?: SequenceOptions<Evaluated>,
  ): Promise<Evaluated[]> {
    return enter(async () => {
      const call = checked<SequenceOptions<any>>(
        "analyseSequence",
        options,
        SEQUENCE,
      );
      const positions = fenList("analyseSequence", fens);
      const n = this.#pending.indexOf(Math.min(...this.#pending));
      this.#pending[n]! += positions.length;
      try {
        const uci = await this.#parts.get(`${n}`, () => this.#start(`${n}`));
        return await uci.analyseSequence(positions, {
          ...call,
          ...limits(call, 12),
        });
      } finally {
        this.#pending[n]! -= positions.length;
      }
    });
  }

  /** Ends the Workers. Running searches reject with code `closed`. */
  close(): void {
    this.#isOpen = false;
    this.#parts.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #start(name: string): Promise<Uci> {
    if (!this.#isOpen) throw failed("closed", "the engine was closed");
    const { worker, options } = this.#options;
    try {
      return new Uci(await worker(), () => this.#parts.forget(name), options);
    } catch (cause) {
      throw failed(
        "engine",
        `${this.name} could not be started: ${(cause as Error).message}`,
        cause,
      );
    }
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
    return new UciEngine(given);
  });
}
