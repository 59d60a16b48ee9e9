// Engines in Workers that speak UCI line by line, such as the package `stockfish`, for the analysis of games.

import { throwIfAborted, unlessAborted } from "../shared/abort.js";
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
  SEARCH,
  usage,
} from "../shared/options.js";
import { Parts } from "../shared/parts.js";
import { scoreText } from "../shared/score.js";
import type {
  EngineWorker,
  Evaluated,
  Evaluation,
  Pv,
  UciEngineOptions,
  UciSequenceOptions,
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
  #ready: Promise<void>;
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
      this.#break(
        failed(
          "engine",
          `Stockfish's Worker failed: ${event.message || "there is no such script"}`,
        ),
      );
    });
    const lines = Object.entries(options).map(
      ([name, value]) => `setoption name ${name} value ${value}`,
    );
    this.#ready = this.#until("uciok", "uci").then(() =>
      this.#until("readyok", ...lines, "isready"),
    );
    this.#last = this.#ready.catch(() => {});
  }

  /** Searches legal positions in order, after the earlier questions, and forgets earlier searches first. */
  async analyseSequence(
    fens: readonly string[],
    { onAnswer, ...question }: UciSequenceOptions,
  ): Promise<Evaluated[]> {
    const { signal } = question;
    throwIfAborted(signal, "the search");
    const search = async () => {
      await this.#ready;
      await this.#until("readyok", "ucinewgame", "isready");
      const results: Evaluated[] = [];
      for (const [index, fen] of fens.entries()) {
        const found = await this.#search(fen, question);
        results.push(found);
        onAnswer?.(index, found);
      }
      return results;
    };
    const result = this.#last.then(search);
    this.#last = result.catch(() => {});
    return unlessAborted(result, signal, "the search");
  }

  /** Ends the Worker. Questions reject with code `closed`. */
  close(): void {
    this.#end(failed("closed", "the engine was closed"));
  }

  #end(error: ShelfishError): void {
    this.#error ??= error;
    this.#fail(this.#error);
    this.#worker.terminate();
  }

  #break(error: ShelfishError): void {
    if (this.#error) return;
    this.#end(error);
    this.#onError();
  }

  /** Sends lines, and waits for a line that starts with `word`. */
  #until(word: string, ...lines: string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#error) return reject(this.#error);
      const timer = setTimeout(
        () => this.#break(failed("engine", `Stockfish did not answer ${word}`)),
        TIMEOUT,
      );
      const settle = (work: () => void) => (clearTimeout(timer), work());
      this.#fail = (error) => settle(() => reject(error));
      this.#receive = (line) => line.startsWith(word) && settle(resolve);
      for (const line of lines) this.#worker.postMessage(line);
    });
  }

  /** Searches. After an abort the caller is already informed, but the search must end before the next search. */
  async #search(
    fen: string,
    { signal, ...question }: UciSequenceOptions,
  ): Promise<Evaluated> {
    signal?.throwIfAborted();
    const { multiPv = 1, castling, depth, nodes, movetime } = question;
    await this.#until(
      "readyok",
      `setoption name MultiPV value ${multiPv}`,
      `setoption name UCI_Chess960 value ${castling === "chess960"}`,
      "isready",
    );
    signal?.throwIfAborted();
    const limits = Object.entries({ depth, nodes, movetime }).filter(
      ([, value]) => value !== undefined,
    );
    const fields = fen.split(" ").slice(0, 4);
    const sign = fields[1] === "b" ? -1 : 1;
    return new Promise<Evaluated>((resolve, reject) => {
      if (this.#error) return reject(this.#error);
      let lines: Pv[] = [];
      let found: Evaluated | undefined;
      const stop = () => this.#worker.postMessage("stop");
      signal?.addEventListener("abort", stop);
      const settle = (work: () => void) => (
        signal?.removeEventListener("abort", stop),
        work()
      );
      this.#fail = (error) => settle(() => reject(error));
      this.#receive = (line) => {
        if (line.startsWith("bestmove")) {
          return settle(() =>
            found
              ? resolve(found)
              : reject(failed("engine", "Stockfish found no line")),
          );
        }
        const info = parseInfo(line, sign);
        if (!info || signal?.aborted) return;
        if (info.rank === 1) lines = [];
        if (info.rank !== lines.length + 1) return;
        lines.push(info.pv);
        const { depth, knodes } = info;
        found = {
          from: "stockfish",
          fen: fields.join(" "),
          depth,
          knodes,
          pvs: [...lines] as Evaluation["pvs"],
        };
      };
      this.#worker.postMessage(`position fen ${fen}`);
      this.#worker.postMessage(`go ${limits.flat().join(" ")}`);
    });
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

/**
 * Returns the first four fields of the FEN of a legal position, without castling rights whose king or rook is missing.
 * Databases ignore these rights, but Stockfish does not check them.
 */
function trusted([
  board = "",
  turn,
  castling = "-",
  enPassant,
]: string[]): string {
  const ranks = board.split("/");
  const rights = [...castling].filter((letter) => {
    const isWhite = letter < "a";
    const rank = ranks[isWhite ? 7 : 0]!.replaceAll("~", "").replace(
      /\d/g,
      (empty) => " ".repeat(Number(empty)),
    );
    const [king, rook] = isWhite ? "KR" : "kr";
    const at = rank.indexOf(king!);
    if (at < 0) return false;
    const file = letter.toLowerCase();
    if (file === "k") return rank.lastIndexOf(rook!) > at;
    if (file === "q") return rank.slice(0, at).includes(rook!);
    return rank[file.charCodeAt(0) - 97] === rook;
  });
  return [board, turn, rights.join("") || "-", enPassant].join(" ");
}

const OPEN: Kinds<UciEngineOptions> = {
  worker: "function",
  name: "text",
  workers: "other",
  options: "other",
};
const SEQUENCE: Kinds<UciSequenceOptions> = { ...SEARCH, onAnswer: "function" };

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
    options?: UciSequenceOptions,
  ): Promise<Evaluated[]> {
    return enter(async () => {
      const call = checked("analyseSequence", options, SEQUENCE);
      const positions = fenList("analyseSequence", fens).map((fen) =>
        trusted(fen.trim().split(/\s+/)),
      );
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
