// The answer that apps want: of the database, else of the engine, or of Stockfish where that is asked for. Each says what
// it is of.

import type { Engine, EngineWorker } from "./engine.js";
import { ShelfishError } from "./errors.js";
import { type Kept, keeper } from "./kept.js";
import { limit, limits } from "./options.js";
import type { Evaluation, PositionEval } from "./types.js";
import { Uci } from "./uci.js";

export type { EngineWorker } from "./engine.js";
export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type { Evaluation, PositionEval, Pv, Score } from "./types.js";

/** Who evaluated a position. */
export type EvaluatedBy = "database" | "engine" | "stockfish";

/** An evaluation and whose it is. */
export interface Evaluated extends Evaluation {
  from: EvaluatedBy;
  /** The position: canonical, the first four fields of FEN; as it was asked for if Stockfish answers and there is no engine. */
  fen: string;
  /** Why the database could not be asked, if it could not. */
  fault?: ShelfishError | undefined;
}

/** Where evaluations come from. */
export interface EvaluatorOptions {
  /** What is asked first: a database of `shelfish` or `shelfish/worker`. */
  database?: { lookup(fen: string, options?: object): Promise<PositionEval | null> } | null | undefined;
  /** The engine, or what loads it when it is first needed. */
  engine?: Engine | (() => Promise<Engine>) | null | undefined;
  /**
   * Makes a Worker that speaks UCI, for `evaluate(fen, { stockfish: true })`: the package `stockfish` has one, such as
   * `new Worker("/stockfish/stockfish-19-lite-single.js")`. It is made when it is first needed.
   */
  stockfish?: (() => EngineWorker | Promise<EngineWorker>) | null | undefined;
  /**
   * Whether to keep what engines found in IndexedDB, apart from what is kept of databases: `true`, or the name of the
   * store (default `"shelfish-engine"`) and how many positions it may have (default 20,000). Default `false`.
   */
  indexedDB?: boolean | { name?: string | undefined; positions?: number | undefined } | undefined;
}

/** How a position is evaluated. `depth`, `nodes` and `movetime` are for engines; without any it is a depth of 16. */
export interface EvaluateOptions {
  depth?: number | undefined;
  nodes?: number | undefined;
  movetime?: number | undefined;
  /** Lines that engines look for. Default 1. */
  multiPv?: number | undefined;
  /** Leaves out evaluations of the database of less depth. Default 0. */
  minDepth?: number | undefined;
  /** Asks Stockfish instead of the engine. */
  stockfish?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Hears what an engine found so far. */
  onInfo?: ((found: Evaluated) => void) | undefined;
  castling?: "standard" | "chess960" | undefined;
  /** Whether to write lines in SAN too; those of Stockfish have none. */
  san?: boolean | undefined;
}

/** Faults of a database for which an engine can stand in. */
const UNREACHABLE = new Set(["network", "timeout", "status", "range", "corrupt", "stale"]);

const failed = (code: "usage" | "closed" | "engine", message: string, cause?: unknown) => new ShelfishError({ code, message }, cause);

/** Evaluates positions. {@link openEvaluator} returns it. */
export class Evaluator {
  #options: EvaluatorOptions;
  #engine: Promise<Engine> | undefined;
  #stockfish: Promise<Uci> | undefined;
  #kept: Kept | undefined;
  #isOpen = true;

  /** @internal Use {@link openEvaluator}. */
  constructor(options: EvaluatorOptions) {
    this.#options = options;
    const { indexedDB: own } = options;
    const { name = "shelfish-engine", positions = 20_000 } = typeof own === "object" ? own : {};
    if (own) this.#kept = keeper(name, positions);
  }

  /**
   * Evaluates a position: by the database if it has it, else by the engine. `null`: nobody who could be asked knows it.
   *
   * Rejects with a {@link ShelfishError}, as `lookup` of databases and `analyse` of the engine do.
   */
  async evaluate(fen: string, options: EvaluateOptions = {}): Promise<Evaluated | null> {
    this.#check();
    const { minDepth, stockfish, onInfo, ...rest } = options;
    const search = { ...rest, ...limits(rest, 16), multiPv: limit("multiPv", rest.multiPv, 256) ?? 1 };
    const { database, engine } = this.#options;
    const asked = String(fen).trim().split(/\s+/);
    const position = asked.join(" ");
    let fault: ShelfishError | undefined;
    if (database) {
      const { signal, castling, san } = rest;
      try {
        const answer = await database.lookup(position, { minDepth, signal, castling, san });
        if (answer) return { ...answer.best, from: "database", fen: answer.fen };
      } catch (error) {
        if (!(error instanceof ShelfishError) || !UNREACHABLE.has(error.code)) throw error;
        fault = error;
      }
    }
    if (stockfish && !this.#options.stockfish) throw failed("usage", "stockfish: openEvaluator({ stockfish }) was given no Stockfish");
    if (!engine) {
      if (fault) throw fault;
      if (!stockfish) return null;
      if (!database) throw failed("usage", "openEvaluator({ stockfish }) needs a database or an engine, to check positions with");
    }
    const tell = onInfo && ((found: Evaluated) => onInfo({ ...found, fault }));
    // The same question has the same answer, whatever the counters of moves say.
    const { depth, nodes, movetime, multiPv, castling = "standard", san = false } = search;
    const from = stockfish ? "stockfish" : "engine";
    const key = [from, asked.slice(0, 4).join(" "), multiPv, castling, san].join("|");
    const before = await this.#kept?.get(key);
    const suffices =
      before && before.depth >= (depth ?? 0) && before.knodes >= (nodes ?? 0) / 1000 && (before.milliseconds ?? 0) >= (movetime ?? 0);
    if (suffices) return { ...before, fault };
    let found: Evaluated & { milliseconds?: number };
    if (stockfish) {
      const begin = performance.now();
      // Only what the rules allow may be asked: Stockfish trusts its positions.
      const canonical = engine ? (await (await this.#loaded()).analyse(position, { depth: 1, signal: rest.signal })).fen : trusted(asked);
      found = { ...(await (await this.#uci()).analyse(canonical, { ...search, onInfo: tell })), milliseconds: performance.now() - begin };
    } else {
      found = await (await this.#loaded()).analyse(position, { ...search, onInfo: tell });
    }
    this.#kept?.put(key, found);
    return { ...found, fault };
  }

  /** Forgets what was kept of engines in IndexedDB. */
  async clear(): Promise<void> {
    await this.#kept?.clear();
  }

  /** Ends the Workers that the evaluator started; the database stays open, and an engine that was given, too. */
  close(): void {
    this.#isOpen = false;
    if (typeof this.#options.engine === "function") this.#engine?.then((engine) => engine.close()).catch(() => {});
    this.#stockfish?.then((uci) => uci.close()).catch(() => {});
    this.#kept?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #check(): void {
    if (!this.#isOpen) throw failed("closed", "the evaluator was closed");
  }

  async #loaded(): Promise<Engine> {
    // What is started once it is closed nobody would end.
    this.#check();
    const engine = this.#options.engine!;
    this.#engine ??= Promise.resolve(typeof engine === "function" ? engine() : engine).catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  async #uci(): Promise<Uci> {
    this.#check();
    // Another one may do where one failed.
    const forget = () => (this.#stockfish = undefined);
    this.#stockfish ??= (async () => new Uci(await this.#options.stockfish!(), forget))().catch((cause: unknown) => {
      forget();
      throw failed("engine", `Stockfish could not be started: ${(cause as Error).message}`, cause);
    });
    return this.#stockfish;
  }
}

/**
 * A position that a database found legal, in the first four fields of FEN, with those rights to castle alone for which king
 * and rook are in place: databases pass over the others, Stockfish trusts what it is told.
 */
function trusted([board = "", turn, castling = "-", enPassant]: string[]): string {
  const ranks = board.split("/");
  const rights = [...castling].filter((letter) => {
    const isWhite = letter < "a";
    const rank = ranks[isWhite ? 7 : 0]!.replaceAll("~", "").replace(/\d/g, (empty) => " ".repeat(Number(empty)));
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

/** Makes an evaluator of a database, an engine, or both. */
export function openEvaluator(options: EvaluatorOptions): Evaluator {
  if (!options?.database && !options?.engine && !options?.stockfish) {
    throw failed("usage", "openEvaluator: expected a database or an engine");
  }
  return new Evaluator(options);
}
