// Evaluations from the best origin: endgame tables, a database, then an engine.

import {
  countsOver,
  deeperResult,
  endingScore,
  needsEngine,
  type PositionEvals,
  probe,
} from "../shared/score.js";
import { enter, enterSync, failed, ShelfishError } from "../shared/errors.js";
import {
  checked,
  fenList,
  fenText,
  type Kinds,
  limits,
  SEARCH,
  usage,
} from "../shared/options.js";
import { Parts } from "../shared/parts.js";
import type {
  EndgameResult,
  Evaluated,
  EvaluateManyOptions,
  EvaluateOptions,
  EvaluatorEngine,
  EvaluatorOptions,
  Limits,
  PositionEval,
} from "../shared/types.js";
import { openResultStore, type ResultStore } from "./result-store.js";

/** Errors of a database after which the engine is asked. */
const UNREACHABLE = new Set([
  "network",
  "timeout",
  "status",
  "missing",
  "range",
  "corrupt",
  "stale",
]);

const OPEN: Kinds<EvaluatorOptions> = {
  endgames: "other",
  endgamePieces: "least0",
  database: "other",
  engine: "other",
  indexedDB: "cache",
};
const MANY: Kinds<EvaluateManyOptions> = {
  ...SEARCH,
  ...{
    minDepth: "least0",
    minKnodes: "least0",
    minPvs: "least0",
    san: "flag",
    onAnswer: "function",
  },
};
const { onAnswer: _, ...COMMON } = MANY;
const ONE: Kinds<EvaluateOptions> = {
  ...COMMON,
  known: "other",
  onInfo: "function",
};

/** The options of a search that its result depends on. */
interface Search extends Limits {
  multiPv: number;
  castling: "standard" | "chess960" | undefined;
  san: boolean | undefined;
  signal: AbortSignal | undefined;
}

/** Evaluates positions. {@link openEvaluator} returns it. */
export class Evaluator {
  #options: EvaluatorOptions;
  /** Tables and engine, once they are needed. */
  #parts = new Parts();
  #store: ResultStore<Evaluated> | undefined;
  #isOpen = true;

  /** @internal */
  constructor(options: EvaluatorOptions) {
    this.#options = options;
    const { indexedDB: store } = options;
    const { name = "shelfish-engine", positions = 20_000 } =
      typeof store === "object" ? store : {};
    if (store) this.#store = openResultStore(name, positions);
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
          fen,
          checked<EvaluateOptions>("evaluate", options, ONE),
        ) as Promise<any>,
    );
  }

  async #evaluate(
    fen: string,
    options: EvaluateOptions,
  ): Promise<Evaluated | null> {
    this.#checkOpen();
    const search = searchOf(options, 16);
    const fields = fenText("evaluate", fen).trim().split(/\s+/);
    const position = fields.join(" ");
    const [exact] = await this.#probe([position], options);
    if (exact) return exact;
    const answer = await this.#lookup(position, options);
    const [hint, databaseError] = evaluated(answer);
    if (!databaseError && !needsEngine(evalsOf(answer))) return hint;
    const { known, onInfo } = options;
    if (!this.#options.engine) {
      if (databaseError) throw databaseError;
      return hint;
    }
    const isUsable = known?.from === "engine" && hasSan(known, search);
    const base = isUsable ? known : undefined;
    if (base && suffices(base, search))
      return counted(hint, { ...base, databaseError });
    const key = keyOf(fields, search);
    const stored = await this.#store?.get(key);
    if (stored && suffices(stored, search))
      return counted(hint, { ...stored, databaseError });
    const report =
      onInfo &&
      ((found: Evaluated) =>
        deeperResult(base, found) === found &&
        counted(hint, found) === found &&
        onInfo({ ...found, databaseError }));
    const engine = await this.#openEngine();
    const found = await engine.analyse(position, { ...search, onInfo: report });
    this.#store?.put(key, found);
    return counted(hint, { ...deeperResult(base, found), databaseError });
  }

  /**
   * Evaluates positions: by a single lookup of the database, and the remaining positions by the engine, in parallel. Returns
   * the answers in the same order. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the evaluator is closed.
   */
  evaluateMany<San extends boolean = boolean>(
    fens: Iterable<string>,
    options?: EvaluateManyOptions<San>,
  ): Promise<Array<Evaluated<San> | null | ShelfishError>> {
    return enter(
      () =>
        this.#evaluateMany(
          fens,
          checked<EvaluateManyOptions>(
            "evaluateMany",
            options as EvaluateManyOptions,
            MANY,
          ),
        ) as Promise<any[]>,
    );
  }

  async #evaluateMany(
    fens: Iterable<string>,
    options: EvaluateManyOptions,
  ): Promise<Array<Evaluated | null | ShelfishError>> {
    this.#checkOpen();
    const search = searchOf(options, 12);
    const positions = fenList("evaluateMany", fens).map((fen) =>
      fen.trim().split(/\s+/).join(" "),
    );
    const answers: Array<Evaluated | null | ShelfishError> = positions.map(
      () => null,
    );
    const answer = (index: number, found: Evaluated | null | ShelfishError) => {
      answers[index] = found;
      options.onAnswer?.(index, found);
    };
    const exact = await this.#probe(positions, options);
    const open = [...positions.keys()].filter((index) => !exact[index]);
    for (const [index, found] of exact.entries())
      if (found) answer(index, found);
    if (open.length === 0) return answers;
    const lookups = await this.#lookupMany(
      open.map((index) => positions[index]!),
      options,
    );
    const gaps: {
      index: number;
      databaseError: ShelfishError | undefined;
      hint: Evaluated | null;
    }[] = [];
    for (const [n, lookup] of lookups.entries()) {
      const index = open[n]!;
      const isGap = this.#options.engine && needsEngine(evalsOf(lookup));
      const [hint, databaseError] = evaluated(lookup);
      if (isGap) gaps.push({ index, databaseError, hint });
      else answer(index, databaseError ?? hint);
    }
    const unknown: typeof gaps = [];
    for (const gap of gaps) {
      const stored = await this.#store?.get(
        keyOf(positions[gap.index]!.split(" "), search),
      );
      if (stored && suffices(stored, search))
        answer(
          gap.index,
          counted(gap.hint, { ...stored, databaseError: gap.databaseError }),
        );
      else unknown.push(gap);
    }
    if (unknown.length === 0) return answers;
    const engine = await this.#openEngine();
    await engine.analyseMany(
      unknown.map(({ index }) => positions[index]!),
      {
        ...search,
        onAnswer: (n, found) => {
          const { index, databaseError, hint } = unknown[n]!;
          if (found instanceof ShelfishError) return answer(index, found);
          this.#store?.put(keyOf(positions[index]!.split(" "), search), found);
          answer(index, counted(hint, { ...found, databaseError }));
        },
      },
    );
    return answers;
  }

  /** Opens the engine before the first search needs it. */
  preload(): Promise<void> {
    return enter(
      async () => void (this.#options.engine && (await this.#openEngine())),
    );
  }

  /** Clears the stored results of engines in IndexedDB. */
  async clear(): Promise<void> {
    await this.#store?.clear();
  }

  /** Ends the Workers that the evaluator started. The database, and an engine that was passed, remain open. */
  close(): void {
    this.#isOpen = false;
    if (typeof this.#options.engine === "function") this.#parts.close("engine");
    this.#store?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw failed("closed", "the evaluator was closed");
  }

  /** Asks the endgame tables. Positions without a result are `undefined` or missing. */
  async #probe(
    positions: string[],
    {
      signal,
      castling,
      san,
    }: Pick<EvaluateOptions, "signal" | "castling" | "san">,
  ): Promise<(Evaluated | undefined)[]> {
    const { endgames, endgamePieces } = this.#options;
    if (!endgames) return [];
    try {
      const results = await probe(
        positions,
        () =>
          this.#parts.get("endgames", () =>
            typeof endgames === "function" ? endgames() : endgames,
          ),
        { signal, castling },
        endgamePieces,
      );
      return results.map((result) =>
        !result || result instanceof ShelfishError
          ? undefined
          : exactly(result, san),
      );
    } catch (error) {
      if (error instanceof ShelfishError && error.code === "aborted")
        throw error;
      // The next position tries again. The database and the engine answer.
      this.#parts.forget("endgames");
      return [];
    }
  }

  /** Looks up a position. Returns the error of the database if an engine can answer instead. */
  async #lookup(
    position: string,
    options: EvaluateOptions,
  ): Promise<PositionEval | null | ShelfishError> {
    if (!this.#options.database) return null;
    try {
      return await this.#options.database.lookup(position, lookupOf(options));
    } catch (error) {
      if (isUnreachable(error)) return error;
      throw error;
    }
  }

  /** Looks up positions. Positions that the database does not contain are `null`. */
  async #lookupMany(
    positions: string[],
    options: EvaluateManyOptions,
  ): Promise<ReadonlyArray<PositionEval | null | ShelfishError>> {
    const { database } = this.#options;
    if (!database) return positions.map(() => null);
    if (!database.lookupMany)
      throw usage("database: evaluateMany needs a database with lookupMany");
    return database.lookupMany(positions, lookupOf(options));
  }

  async #openEngine(): Promise<EvaluatorEngine> {
    // An engine that starts after `close` would never end.
    this.#checkOpen();
    const engine = this.#options.engine!;
    return this.#parts.get("engine", () =>
      typeof engine === "function" ? engine() : engine,
    );
  }
}

const isUnreachable = (error: unknown): error is ShelfishError =>
  error instanceof ShelfishError && UNREACHABLE.has(error.code);

/** Returns the evaluations of a position after the answer of a database. */
function evalsOf(answer: PositionEval | null | ShelfishError): PositionEvals {
  return answer instanceof ShelfishError
    ? { isUnreachable: isUnreachable(answer) }
    : { database: answer };
}

/** Converts the result of endgame tables. A game that is over has none. */
function exactly(
  endgame: EndgameResult,
  san: boolean | undefined,
): Evaluated | undefined {
  const [best] = endgame.moves;
  if (!best) return undefined;
  const { cp, text } = endingScore(endgame);
  return {
    from: "endgames",
    fen: endgame.fen,
    depth: 0,
    knodes: 0,
    pvs: [
      { cp, score: text, uci: [best.uci], ...(san && { san: [best.san] }) },
    ],
    endgame,
  };
}

/** Returns the best evaluation of a database's answer, and its error. */
function evaluated(
  answer: PositionEval | null | ShelfishError,
): [hint: Evaluated | null, databaseError?: ShelfishError] {
  return answer instanceof ShelfishError
    ? [null, answer]
    : [answer && { ...answer.best, from: "database", fen: answer.fen }];
}

/** Returns the result of an engine, unless the shallow answer of the database counts over it. */
const counted = (hint: Evaluated | null, found: Evaluated): Evaluated =>
  hint && countsOver(hint, found) ? hint : found;

/** Returns the options of a lookup. */
function lookupOf({
  minDepth,
  minKnodes,
  minPvs,
  signal,
  castling,
  san,
}: EvaluateManyOptions): object {
  return { minDepth, minKnodes, minPvs, signal, castling, san };
}

function searchOf(options: EvaluateManyOptions, defaultDepth: number): Search {
  const { castling, san, signal } = options;
  return { ...limits(options, defaultDepth), castling, san, signal };
}

/** Returns the key of a result. The result does not depend on the counters of moves. */
function keyOf(
  fields: string[],
  { multiPv, castling = "standard", san = false }: Search,
): string {
  return ["engine", fields.slice(0, 4).join(" "), multiPv, castling, san].join(
    "|",
  );
}

/** Whether the lines of a result are in SAN, if the search requests SAN. */
const hasSan = ({ pvs }: Evaluated, { san }: Pick<Search, "san">) =>
  !san || pvs.every((pv) => pv.san);

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
    const given = checked("openEvaluator", options, OPEN);
    if (typeof given.indexedDB === "object")
      checked(
        "openEvaluator",
        given.indexedDB,
        { name: "text", positions: "least0" },
        "indexedDB.",
      );
    if (given.endgames || given.database || given.engine)
      return new Evaluator(given);
    throw usage(
      "openEvaluator: expected a database, an engine or endgame tables",
    );
  });
}
