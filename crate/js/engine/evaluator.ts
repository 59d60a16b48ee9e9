// Evaluations from the best origin: endgame tables, a database, then an engine.

import {
  counting,
  deeperResult,
  needsEngine,
  probe,
  withLines,
} from "../shared/score.js";
import { enter, enterSync, failed, ShelfishError } from "../shared/errors.js";
import {
  checked,
  fenText,
  type Kinds,
  limits,
  SEARCH,
  usage,
} from "../shared/options.js";
import { awaited, by, given, Parts } from "../shared/parts.js";
import { openEngine } from "./engine.js";
import type {
  CallOptions,
  EndgameResult,
  EndgameTables,
  Evaluated,
  EvaluateOptions,
  EvaluatorEngine,
  EvaluatorOptions,
  Limits,
  PositionEval,
} from "../shared/types.js";

/** Errors of a database after which the engine is asked. */
const UNREACHABLE = /^(network|timeout|status|missing|range|corrupt|stale)$/;

const OPEN: Kinds<EvaluatorOptions> = {
  endgames: "other",
  database: "other",
  engine: "other",
};
const EVALUATE: Kinds<EvaluateOptions> = {
  ...SEARCH,
  minDepth: "least0",
  minKnodes: "least0",
  minPvs: "least0",
  san: "flag",
  known: "other",
  onInfo: "function",
};

/** Evaluates positions. {@link openEvaluator} returns it. */
export class Evaluator {
  #options: EvaluatorOptions;
  /** Tables and engine, once they are needed. */
  #parts = new Parts();
  #isOpen = true;

  /** @internal */
  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  /**
   * Evaluates a position: by endgame tables, by the database if it contains a deep evaluation, else by the engine. A database's evaluation of fewer
   * than 16 plies or 100,000 nodes is only a hint, which is returned if there is no engine, or if the engine's search is shorter.
   * Returns `null` if there is neither a hint nor an engine.
   *
   * Rejects with a {@link ShelfishError}, like `lookup` of databases and `analyse` of engines.
   */
  evaluate<San extends boolean = boolean>(
    fen: string,
    options?: EvaluateOptions<San>,
  ): Promise<Evaluated<San> | null> {
    return enter(
      () =>
        this.#evaluate(
          fenText("evaluate", fen).trim().split(/\s+/).join(" "),
          checked<EvaluateOptions>("evaluate", options, EVALUATE),
        ) as Promise<any>,
    );
  }

  async #evaluate(
    fen: string,
    { known, onInfo, minDepth, minKnodes, minPvs, ...rest }: EvaluateOptions,
  ): Promise<Evaluated | null> {
    this.#checkOpen();
    const { signal, castling, san } = rest;
    const search = { ...limits(rest, 16), signal, castling, san };
    const exact = await this.#probe(fen, { signal, castling });
    if (exact) return exact;
    const { engine } = this.#options;
    let answer: PositionEval | null = null;
    let databaseError: ShelfishError | undefined;
    try {
      const query = { minDepth, minKnodes, minPvs, signal, castling, san };
      const database = await given(
        this.#parts,
        "database",
        this.#options.database,
        "lookup",
        async (url) =>
          (await import("../index.js")).openDatabase(
            url,
            by("shelfish/engine"),
          ),
      );
      answer = (await database?.lookup(fen, query)) ?? null;
      answer &&= { ...answer, ...withLines(answer, search.multiPv) };
    } catch (error) {
      databaseError = error as ShelfishError;
      if (!engine || !UNREACHABLE.test(databaseError.code)) throw error;
    }
    const hint: Evaluated | undefined = answer ?? undefined;
    const lacksLines = hint && hint.pvs.length < search.multiPv;
    const isKnown =
      !databaseError && !lacksLines && !needsEngine({ database: answer });
    if (!engine || isKnown) return hint ?? null;
    const base =
      known?.from === "engine" && (!san || known.pvs.every((pv) => pv.san))
        ? known
        : undefined;
    /** Returns the result of the engine, unless the shallow answer of the database counts over it. */
    const best = (found: Evaluated) =>
      lacksLines && found.pvs.length > hint.pvs.length
        ? found
        : counting<Evaluated>({ ...found, databaseError }, hint)!;
    if (base && suffices(base, search)) return best(base);
    const report =
      onInfo &&
      ((found: Evaluated) => {
        const reported = best(found);
        if (deeperResult(base, found) === found && reported !== hint)
          onInfo(reported);
      });
    const opened = await this.#openEngine();
    const found = await opened.analyse(fen, { ...search, onInfo: report });
    return best(deeperResult<Evaluated>(base, found));
  }

  /** Opens the engine before the first search needs it. */
  preload(): Promise<void> {
    return enter(
      async () => void (this.#options.engine && (await this.#openEngine())),
    );
  }

  /** Closes what URLs or functions opened. What was passed open, or by a promise, remains open. */
  close(): void {
    this.#isOpen = false;
    this.#parts.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw failed("closed", "the evaluator was closed");
  }

  /** Asks the endgame tables. Returns `undefined` if they do not contain the position, or fail. */
  async #probe(
    fen: string,
    query: CallOptions,
  ): Promise<Evaluated | undefined> {
    const { endgames } = this.#options;
    if (!endgames) return undefined;
    try {
      const open = async () =>
        (await given<EndgameTables>(
          this.#parts,
          "endgames",
          endgames,
          "probeMany",
          async (url) =>
            (await import("../endgames.js")).openEndgames(
              url,
              by("shelfish/engine"),
            ),
        ))!;
      const [result] = await probe([fen], open, query);
      return result && "moves" in result ? exactly(result) : undefined;
    } catch (error) {
      if (
        error instanceof ShelfishError &&
        /^(aborted|usage)$/.test(error.code)
      )
        throw error;
      // The next position tries again. The database and the engine answer.
      this.#parts.forget("endgames");
      return undefined;
    }
  }

  async #openEngine(): Promise<EvaluatorEngine> {
    // An engine that starts after `close` would never end.
    this.#checkOpen();
    const { engine } = this.#options;
    const opened = await given<EvaluatorEngine>(
      this.#parts,
      "engine",
      engine,
      "analyse",
      () => openEngine(),
    );
    return opened!;
  }
}

/** Converts the result of endgame tables. A game that is over has none. */
function exactly(endgame: EndgameResult): Evaluated | undefined {
  const [pv] = endgame.pvs;
  return pv && { ...endgame, pvs: [pv], endgame };
}

/** Whether a result reaches a limit of a search. The search would end there. */
function suffices(
  { depth, knodes, milliseconds = 0 }: Evaluated,
  { nodes = Infinity, ...limits }: Limits,
): boolean {
  return (
    depth >= (limits.depth ?? Infinity) ||
    knodes >= nodes / 1000 ||
    milliseconds >= (limits.movetime ?? Infinity)
  );
}

/** Opens an evaluator of at least one origin: endgame tables, a database, an engine. */
export function openEvaluator(options: EvaluatorOptions): Evaluator {
  return enterSync(() => {
    const origins = awaited(checked("openEvaluator", options, OPEN));
    if (origins.endgames || origins.database || origins.engine)
      return new Evaluator(origins);
    throw usage(
      "openEvaluator: expected a database, an engine or endgame tables",
    );
  });
}
