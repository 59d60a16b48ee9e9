// An engine in a Worker that speaks UCI, line by line, as the package `stockfish` has one.

import { unlessAborted } from "./abort.js";
import type { EngineWorker } from "./engine.js";
import { ShelfishError } from "./errors.js";
import type { Evaluated } from "./evaluator.js";
import { written } from "./score.js";
import type { Evaluation, Pv } from "./types.js";

interface Question {
  depth?: number | undefined;
  nodes?: number | undefined;
  movetime?: number | undefined;
  multiPv?: number | undefined;
  castling?: "standard" | "chess960" | undefined;
  signal?: AbortSignal | undefined;
  onInfo?: ((found: Evaluated) => void) | undefined;
}

/** Milliseconds within which an engine must begin to answer. */
const PATIENCE = 60_000;

const failed = (message: string, cause?: unknown) => new ShelfishError({ code: "engine", message }, cause);

/** An engine that speaks UCI. It answers one question after the other. Once it has failed it is closed. */
export class Uci {
  #worker: EngineWorker;
  #onFault: () => void;
  #hear: (line: string) => void = () => {};
  #fail: (error: ShelfishError) => void = () => {};
  #fault: ShelfishError | undefined;
  #ready: Promise<void>;
  #last: Promise<unknown>;

  constructor(worker: EngineWorker, onFault: () => void) {
    this.#worker = worker;
    this.#onFault = onFault;
    worker.addEventListener("message", ({ data }: { data: unknown }) => {
      for (const line of String(data).split("\n")) this.#hear(line.trim());
    });
    worker.addEventListener("error", (event: ErrorEvent) => {
      event.preventDefault?.();
      this.#break(failed(`Stockfish's Worker failed: ${event.message || "there is no such script"}`));
    });
    this.#ready = this.#until("uciok", "uci");
    this.#last = this.#ready.catch(() => {});
  }

  /** Searches a position that the rules allow, in canonical FEN. */
  async analyse(fen: string, question: Question): Promise<Evaluated> {
    const { signal } = question;
    await unlessAborted(Promise.resolve(), signal, "the search");
    const search = this.#last.then(() => this.#ready).then(() => this.#search(fen, question));
    this.#last = search.catch(() => {});
    return unlessAborted(search, signal, "the search");
  }

  /** Ends the Worker; questions that are under way or wait reject with code `closed`. */
  close(): void {
    this.#end(new ShelfishError({ code: "closed", message: "the evaluator was closed" }));
  }

  #end(error: ShelfishError): void {
    this.#fault ??= error;
    this.#fail(this.#fault);
    this.#worker.terminate();
  }

  #break(error: ShelfishError): void {
    if (this.#fault) return;
    this.#end(error);
    this.#onFault();
  }

  /** Says something, and waits for a line that begins with a word. */
  #until(word: string, ...lines: string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#fault) return reject(this.#fault);
      const timer = setTimeout(() => this.#break(failed(`Stockfish did not say ${word}`)), PATIENCE);
      const settle = (work: () => void) => (clearTimeout(timer), work());
      this.#fail = (error) => settle(() => reject(error));
      this.#hear = (line) => line.startsWith(word) && settle(resolve);
      for (const line of lines) this.#worker.postMessage(line);
    });
  }

  /** Searches. Who aborted it has been told already, and hears nothing of how it ends. */
  async #search(fen: string, { signal, onInfo, ...question }: Question): Promise<Evaluated> {
    signal?.throwIfAborted();
    const { multiPv = 1, castling, depth, nodes, movetime } = question;
    await this.#until(
      "readyok",
      `setoption name MultiPV value ${multiPv}`,
      `setoption name UCI_Chess960 value ${castling === "chess960"}`,
      "isready",
    );
    signal?.throwIfAborted();
    const limits = Object.entries({ depth, nodes, movetime }).filter(([, value]) => value);
    const fields = fen.split(" ").slice(0, 4);
    const sign = fields[1] === "b" ? -1 : 1;
    return new Promise<Evaluated>((resolve, reject) => {
      if (this.#fault) return reject(this.#fault);
      let lines: Pv[] = [];
      let found: Evaluated | undefined;
      const stop = () => this.#worker.postMessage("stop");
      signal?.addEventListener("abort", stop);
      const settle = (work: () => void) => (signal?.removeEventListener("abort", stop), work());
      this.#fail = (error) => settle(() => reject(error));
      this.#hear = (line) => {
        if (line.startsWith("bestmove")) {
          return settle(() => (found ? resolve(found) : reject(failed("Stockfish found no line"))));
        }
        const told = read(line, sign);
        if (!told || signal?.aborted) return;
        if (told.rank === 1) lines = [];
        if (told.rank !== lines.length + 1) return;
        lines.push(told.pv);
        const { depth, knodes } = told;
        found = { from: "stockfish", fen: fields.join(" "), depth, knodes, pvs: [...lines] as Evaluation["pvs"] };
        onInfo?.(found);
      };
      this.#worker.postMessage(`position fen ${fen}`);
      this.#worker.postMessage(`go ${limits.flat().join(" ")}`);
    });
  }
}

/** A line of `info` with an exact score, from White's view. */
export function read(line: string, sign: 1 | -1): { rank: number; depth: number; knodes: number; pv: Pv } | undefined {
  if (!line.startsWith("info ") || / (lower|upper)bound /.test(line)) return undefined;
  const word = (name: string) => new RegExp(` ${name} (-?\\d+)`).exec(line)?.[1];
  const [, kind, number] = / score (cp|mate) (-?\d+)/.exec(line) ?? [];
  const [, moves] = / pv (.+)$/.exec(line) ?? [];
  if (!kind || !moves || !word("depth")) return undefined;
  // No −0.
  const value = sign * Number(number) + 0;
  const score = kind === "mate" ? { mate: value } : { cp: value };
  const pv: Pv = { ...score, score: written(score), uci: moves.split(" ") };
  const knodes = Math.round(Number(word("nodes") ?? 0) / 1000);
  return { rank: Number(word("multipv") ?? 1), depth: Number(word("depth")), knodes, pv };
}
