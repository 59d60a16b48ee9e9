/** Runs the analysis of the game. The module is loaded after the lookup of the game, the engine for its first search. */
import type {
  AnalyseGameOptions,
  GameToAnalyse,
  Analysis,
  GameEngine,
  GameEngineResult,
  GameProgress,
  KnownEval,
} from "shelfish/analysis";
import type { Evaluated, Score, ShelfishError } from "shelfish/engine";
import { MAX_TABLE_PIECES } from "../../../crate/js/shared/score.ts";
import type { EndgameLookups } from "../evaluation/endgame-lookups";
import type { Lookups } from "../evaluation/lookups";
import { type Game, movesOf, type Node, positionKey } from "../game/game";
import { Parts } from "../../../crate/js/shared/parts.ts";
import { analysis, Latest, throttle } from "../loading/loading";
import type { Settings } from "../settings/settings";
import type { Assessment, Judged, State } from "../state/state";
import { InputError } from "../text/words";
import { hasStockfish, openStockfish, STOCKFISH } from "../loading/stockfish";

/** Name of the engine that judges without Stockfish. */
const OWN = "the engine of Shelfish";
/** Milliseconds without a change of the main line before its analysis begins. */
const REST = 60;
/** Returns the number of Workers of an analysis. */
const workerCount = (): number =>
  Math.max(2, Math.min(4, (navigator.hardwareConcurrency || 2) - 1));
/** Minimum number of milliseconds between two updates of the progress. */
const SHOW_INTERVAL = 150;
/** Of each pass: the usual share of the positions that it searches, and the nodes of a position as a fraction of the third pass. See `review.rs`. */
const PASSES = [
  [0, 0],
  [1, 1 / 30],
  [1, 3 / 5],
  [0.33, 1],
  [0.12, 8 / 5],
  [0.3, 1 / 10],
  [0.03, 1],
] as const;
/** Minimum share of the analysis that is searched before the time that is left is estimated. */
const MIN_SHARE = 0.03;

/** The reports of earlier visits. */
interface Reports {
  report(game: Game): Promise<Judged | undefined>;
  keepReport(game: Game, judged: Judged): Promise<void>;
}

/** Compares reports: Stockfish counts over the engine of Shelfish, then more nodes. */
const strength = ({ by, nodes }: Pick<Judged, "by" | "nodes">): number =>
  (by === STOCKFISH ? 2 ** 40 : 0) + nodes;

/** Whether the engine is enabled, whether Stockfish judges, and the nodes for each position of a doubtful move. */
type ReporterSettings = Pick<Settings, "engine" | "stockfish" | "nodes">;

/** Updates the state's report. A new main line begins a new analysis. */
export class Reporter {
  /** Returns the module of the analysis. */
  readonly analysis = analysis;
  #timer = 0;
  readonly #abort = new Latest();
  /** The main line that is analysed, as JSON. */
  #line = "";
  /** Positions that the database has not answered. If it answers later, the analysis begins again. */
  #unanswered: ReadonlySet<string> = new Set();
  readonly #parts = new Parts();
  /** Results of the engine for this game. Stopped analyses continue without storage too. */
  readonly #found = new Map<string, readonly GameEngineResult[]>();
  /** Whether Stockfish could not be loaded or failed. */
  #isBroken = false;
  /** Whether the report of a link suffices. */
  #trustsLinks = true;
  /** Shows the report of the moves that are settled now. */
  #showSettled: (() => void) | undefined;

  constructor(
    private readonly state: State,
    private readonly lookups: Pick<Lookups, "answers">,
    private readonly endgames: Pick<EndgameLookups, "results">,
    private readonly reports: Reports,
    private settings: ReporterSettings,
  ) {
    state.join(({ game, tree, known }) => {
      if (tree) this.#change(game === true);
      else if (
        known &&
        [...known].some(
          (fen) => this.#unanswered.has(fen) && state.databaseEvals.get(fen),
        )
      )
        this.resume();
    });
  }

  /** Whether Stockfish is to judge the moves. */
  get #hasStockfish(): boolean {
    return this.settings.stockfish && !this.#isBroken && hasStockfish();
  }

  /** Whether the engine is enabled. */
  get isEnabled(): boolean {
    return this.settings.engine;
  }

  /** Returns the engine and the nodes of an analysis by the settings. */
  get #goal(): Pick<Judged, "by" | "nodes"> {
    const { engine, nodes } = this.settings;
    if (!engine) return { by: undefined, nodes: 0 };
    return { by: this.#hasStockfish ? STOCKFISH : OWN, nodes };
  }

  /** Returns the engine that judges a move as the report does, and its nodes. */
  get judge() {
    const { by, nodes } = this.#goal;
    return {
      engine: by ? () => this.#engine(by === STOCKFISH) : null,
      nodes: this.state.assessment?.nodes || nodes || 1,
    };
  }

  /** Changes the settings. The present report stays until a better report is complete. */
  set(settings: Partial<ReporterSettings>): void {
    this.settings = { ...this.settings, ...settings };
    if (settings.engine === false) {
      this.stop();
      this.state.setProgress(undefined);
      this.#parts.close();
      if (this.state.assessment) return;
    }
    if (this.state.game.mainline().length > 1) this.resume();
  }

  /** Stops the analysis, and shows what is final. */
  stop(): void {
    window.clearTimeout(this.#timer);
    this.#showSettled?.();
    this.#showSettled = undefined;
    this.#abort.abort();
    const { progress } = this.state;
    if (progress) this.state.setProgress({ ...progress, isRunning: false });
  }

  /** Returns a PGN of the game with the evaluations, judgments and better lines. */
  async annotated(pgn: string): Promise<string> {
    const analysis = await this.analysis();
    const { assessment } = this.state;
    const line = this.state.game.mainline();
    if (!assessment?.report.settled || assessment.isLinked)
      return analysis.annotate(
        pgn,
        assessment?.evaluations ?? line.map(() => null),
      );
    // The results of the engine are known.
    const { by, nodes } = assessment;
    return (
      await analysis.analyseGame(pgn, {
        ...this.#options(line, new AbortController().signal, { by, nodes }),
        annotate: true,
      })
    ).pgn!;
  }

  /** Replaces the report of a link. */
  judgeAnew(): void {
    this.#trustsLinks = false;
    this.resume();
  }

  /** Begins the analysis of another main line. Changes of variations do not affect it. */
  #change(isOther: boolean): void {
    const line = this.state.game.mainline();
    const text = JSON.stringify(gameOf(line));
    if (!isOther && text === this.#line) return;
    if (isOther) {
      this.#found.clear();
      this.#trustsLinks = true;
    }
    this.#line = text;
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    this.#unanswered = new Set();
    this.#showSettled = undefined;
    this.state.setAssessment(undefined);
    this.state.setProgress(undefined);
    if (line.length > 1) this.resume();
  }

  /** Continues the analysis, unless the report is complete and as good. Results that are known are not searched again. */
  resume(): void {
    const { assessment } = this.state;
    window.clearTimeout(this.#timer);
    const signal = this.#abort.begin();
    if (assessment && this.#suffices(assessment))
      return this.state.setProgress(undefined);
    // Until all moves are settled, figures may change.
    if (this.settings.engine) {
      if (!assessment?.report.settled) this.state.setAssessment(undefined);
      this.state.setProgress({ pass: 0, share: 0, isRunning: true });
    }
    this.#timer = window.setTimeout(() => void this.#run(signal), REST);
  }

  /** Whether a report is complete, and as good as a new analysis would be. */
  #suffices(judged: Judged): boolean {
    const { report, isPartial, isLinked } = judged;
    if (isLinked) return this.#trustsLinks;
    return (
      report.settled && !isPartial && strength(judged) >= strength(this.#goal)
    );
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { state, reports } = this;
    const { game } = state;
    const line = game.mainline();
    const goal = this.#goal;
    const estimate = estimator(line.length);
    let isSettled = state.assessment?.report.settled === true;
    const show = throttle(SHOW_INTERVAL, (progress: GameProgress) => {
      if (signal.aborted) return;
      const { pass } = progress;
      if (this.settings.engine)
        state.setProgress({ pass, ...estimate(progress), isRunning: true });
      if (isSettled) return;
      const [report, evaluations] = [progress.report(), progress.evaluations()];
      this.#showSettled = () =>
        this.#show(line, { report, evaluations, ...goal, isPartial: true });
      isSettled = report.settled;
      if (isSettled) this.#showSettled();
      else state.addGameEvals(evaluated(line, evaluations));
    });
    try {
      const stored = state.assessment ?? (await reports.report(game));
      if (signal.aborted) return;
      if (stored && stored !== state.assessment) {
        isSettled = true;
        this.#show(line, stored);
      }
      if (stored && this.#suffices(stored)) return state.setProgress(undefined);
      await this.lookups.answers(line, signal);
      const analysis: Analysis = await this.analysis();
      const found = await analysis.analyseGame(gameOf(line), {
        ...this.#options(line, signal, goal),
        onProgress: show,
      });
      if (signal.aborted) return;
      // Ends the updates of the progress.
      this.#abort.abort();
      this.#showSettled = undefined;
      const judged = { ...found, ...goal };
      this.#show(line, judged);
      state.setProgress(undefined);
      if (found.report.settled) await reports.keepReport(game, judged);
    } catch (error) {
      if (signal.aborted) return;
      this.#showSettled = undefined;
      if (this.#hasStockfish && (error as ShelfishError).code === "engine") {
        console.warn(
          "The analysis goes on with the engine of Shelfish:",
          error,
        );
        this.#isBroken = true;
        return this.resume();
      }
      // Without a connection the module may be missing. Resume tries again.
      if (!(error instanceof InputError)) console.warn("The analysis:", error);
      this.stop();
    }
  }

  #options(
    line: readonly Node[],
    signal: AbortSignal,
    { by, nodes }: Pick<Judged, "by" | "nodes">,
  ): AnalyseGameOptions {
    const lookupMany = async () => {
      const answers = await this.lookups.answers(line, signal);
      this.#unanswered = new Set(
        line.flatMap(({ fen }, index) =>
          answers[index] === undefined ? [fen] : [],
        ),
      );
      return answers.map((answer) => answer ?? null);
    };
    // The module names positions without their half-move clocks.
    const nodesByFen = new Map(line.map((node) => [positionKey(node), node]));
    const probeMany = async (fens: string[]) => {
      const wanted = fens.map((fen) => nodesByFen.get(positionKey({ fen })));
      const found = wanted.filter((node) => node !== undefined);
      const results = new Map(
        (await this.endgames.results(found, signal)).map((result, index) => [
          found[index],
          result,
        ]),
      );
      return wanted.map(
        (node) => results.get(node) ?? new InputError("no endgame table"),
      );
    };
    return {
      database: { lookupMany },
      endgames: { maxPieces: MAX_TABLE_PIECES, probeMany },
      engine: by ? () => this.#engine(by === STOCKFISH) : null,
      draft: by ? () => this.#engine(false) : null,
      nodes: nodes || undefined,
      usePgnEvals: true,
      signal,
    };
  }

  /** Returns an engine. Its Workers start when a result is not known. */
  async #engine(isStockfish: boolean): Promise<GameEngine> {
    const { engineName, openEngine } = await import("shelfish/engine");
    const name = isStockfish ? STOCKFISH : engineName;
    const open = (): Promise<GameEngine> =>
      isStockfish ? openStockfish() : openEngine({ workers: workerCount() });
    return {
      name,
      analyseSequence: async (fens, options) => {
        const key = [name, options.nodes, options.multiPv, ...fens].join("|");
        const known = this.#found.get(key);
        known?.forEach((found, index) => options.onAnswer?.(index, found));
        if (known) return known;
        const engine = await this.#parts.get(name, open);
        const results = await engine.analyseSequence(fens, options);
        this.#found.set(key, results);
        return results;
      },
    };
  }

  #show(line: readonly Node[], judged: Judged): void {
    const { report, evaluations } = judged;
    // The report of two positions is the first that says anything.
    if (evaluations.filter(Boolean).length < 2) return;
    const moves: Assessment["moves"] = new Map(
      report.moves.flatMap((move) =>
        line[move.ply] ? [[line[move.ply] as Node, move]] : [],
      ),
    );
    this.state.setAssessment(
      { ...judged, moves },
      evaluated(line, evaluations),
    );
  }
}

/** Returns the evaluations by an engine or by Stockfish. The state has the other evaluations. */
const evaluated = (
  line: readonly Node[],
  evaluations: Judged["evaluations"],
): Evaluated[] =>
  line.flatMap(({ fen }, index) => {
    const known = evaluations[index];
    if (known?.from !== "engine" && known?.from !== "uci") return [];
    const { depth = 0, knodes = 0, pvs } = known;
    // Only the score of the second variation is known.
    const from = known.from === "uci" ? "stockfish" : known.from;
    return [{ fen, from, depth, knodes, pvs: [pvs[0]] }];
  });

/** Returns a function that estimates the share of an analysis that is done, and the seconds that are left. */
function estimator(positions: number) {
  let share = 0;
  let since: { at: number; share: number } | undefined;
  /** The work of the passes before the present pass. */
  let before = 0;
  let present = { pass: 0, work: 0 };
  return ({ pass, done, of }: GameProgress) => {
    const nodes = PASSES[pass]?.[1] ?? 0;
    if (pass !== present.pass) before += present.work;
    present = { pass, work: nodes * of };
    const later = PASSES.slice(pass + 1).reduce(
      (sum, [usual, nodes]) => sum + usual * nodes * positions,
      0,
    );
    const whole = before + present.work + later;
    share = Math.max(share, (before + nodes * done) / whole || 0);
    // The first pass has another engine.
    if (pass > 1) since ??= { at: performance.now(), share };
    const searched = since ? share - since.share : 0;
    const left =
      since && searched > MIN_SHARE
        ? ((performance.now() - since.at) * (1 - share)) / searched / 1000
        : undefined;
    return { share, left };
  };
}

/** Returns the moves of a line and the evaluations of their PGN. */
function gameOf(line: readonly Node[]): GameToAnalyse {
  const evaluations = line.map(({ notes: { given } }): KnownEval | null =>
    given ? { from: "pgn", depth: given.depth, pvs: [given as Score] } : null,
  );
  const fen = line[0]?.fen;
  return {
    fen,
    moves: movesOf(line),
    positions: line.map(positionKey),
    evaluations,
  };
}
