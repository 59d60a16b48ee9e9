// An engine in a Worker that speaks UCI line by line, such as the package `stockfish`.

import type { EngineWorker } from "../engine/messages.js";
import { scoreText } from "../score/score.js";
import { throwIfAborted, unlessAborted } from "../shared/abort.js";
import { failed, type ShelfishError } from "../shared/errors.js";
import type { Limits } from "../shared/options.js";
import type { Evaluation, Pv } from "../shared/types.js";
import type { Evaluated } from "./types.js";

interface Question extends Limits {
  multiPv?: number | undefined;
  castling?: "standard" | "chess960" | undefined;
  signal?: AbortSignal | undefined;
  onInfo?: ((found: Evaluated) => unknown) | undefined;
}

interface OnAnswer {
  onAnswer?: ((index: number, found: Evaluated) => unknown) | undefined;
}

/** Milliseconds until an engine that does not answer counts as failed. */
const TIMEOUT = 60_000;

/** Names and values of UCI options. */
export type UciOptions = Readonly<Record<string, string | number | boolean>>;

/** An engine that speaks UCI. It answers questions in order. After a failure it is closed. */
export class Uci {
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
    options: UciOptions = {},
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

  /** Searches a legal position in canonical FEN. */
  async analyse(fen: string, question: Question): Promise<Evaluated> {
    return this.#queue(() => this.#search(fen, question), question.signal);
  }

  /** Searches legal positions in order, and forgets earlier searches first. */
  async analyseSequence(
    fens: readonly string[],
    { onAnswer, ...question }: Question & OnAnswer,
  ): Promise<Evaluated[]> {
    const search = async () => {
      await this.#until("readyok", "ucinewgame", "isready");
      const results: Evaluated[] = [];
      for (const [index, fen] of fens.entries()) {
        const found = await this.#search(fen, question);
        results.push(found);
        onAnswer?.(index, found);
      }
      return results;
    };
    return this.#queue(search, question.signal);
  }

  /** Runs `search` after the earlier searches. */
  async #queue<T>(
    search: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    throwIfAborted(signal, "the search");
    const result = this.#last.then(() => this.#ready).then(search);
    this.#last = result.catch(() => {});
    return unlessAborted(result, signal, "the search");
  }

  /** Ends the Worker. Questions reject with code `closed`. */
  close(): void {
    this.#end(failed("closed", "the evaluator was closed"));
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
    { signal, onInfo, ...question }: Question,
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
        onInfo?.(found);
      };
      this.#worker.postMessage(`position fen ${fen}`);
      this.#worker.postMessage(`go ${limits.flat().join(" ")}`);
    });
  }
}

/** Starts a Worker that speaks UCI. Calls `forget` after a failure, so that the next question starts a new Worker. */
export async function startUci(
  name: string,
  make: () => EngineWorker | Promise<EngineWorker>,
  forget: () => void,
  options?: UciOptions,
): Promise<Uci> {
  try {
    // `make` runs after the caller has stored the promise, which `forget` removes.
    return new Uci(await Promise.resolve().then(make), forget, options);
  } catch (cause) {
    forget();
    throw failed(
      "engine",
      `${name} could not be started: ${(cause as Error).message}`,
      cause,
    );
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
export function trusted([
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
