/** Runs the analysis of the game. The module is loaded after the lookup of the game, the engine for its first search. */
import type {
  AnalyseGameOptions,
  GameToAnalyse,
  Analysis,
  GameEngine,
  GameEngineResult,
  GameProgress,
  FoundEval,
  KnownEval,
  Report,
} from "shelfish/analysis";
import type { Evaluated, Score, ShelfishError } from "shelfish/engine";
import { MAX_TABLE_PIECES } from "../../../crate/js/shared/score.ts";
import type { EndgameLookups } from "../evaluation/endgame-lookups";
import type { Lookups } from "../evaluation/lookups";
import { movesOf, type Node, positionKey } from "../game/game";
import { Parts } from "../../../crate/js/shared/parts.ts";
import { analysis, Latest, throttle } from "../loading/loading";
import type { Settings } from "../settings/settings";
import type { Assessment, State } from "../state/state";
import { InputError } from "../text/words";
import { hasStockfish, openStockfish, STOCKFISH } from "../loading/stockfish";

/** Milliseconds without a change of the main line before its analysis begins. */
const REST = 60;
/** Returns the number of Workers of an analysis. */
const workerCount = (): number =>
  Math.max(2, Math.min(4, (navigator.hardwareConcurrency || 2) - 1));
/** Minimum number of milliseconds between two preliminary reports. */
const SHOW_INTERVAL = 150;

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

  constructor(
    private readonly state: State,
    private readonly lookups: Pick<Lookups, "answers">,
    private readonly endgames: Pick<EndgameLookups, "results">,
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

  /** Whether Stockfish judges the moves. */
  get hasStockfish(): boolean {
    return this.settings.stockfish && !this.#isBroken && hasStockfish();
  }

  /** Whether the engine is enabled. */
  get isEnabled(): boolean {
    return this.settings.engine;
  }

  /** Changes the settings. The present report stays until the new report is complete. */
  set(settings: Partial<ReporterSettings>): void {
    this.settings = { ...this.settings, ...settings };
    if (settings.engine === false) {
      this.stop();
      this.state.setProgress(undefined);
      this.#parts.close();
    } else if (this.state.game.mainline().length > 1) this.resume();
  }

  /** Stops the analysis. */
  stop(): void {
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    const { progress } = this.state;
    if (progress) this.state.setProgress({ ...progress, isRunning: false });
  }

  /** Returns a PGN of the game with the evaluations, judgments and better lines. */
  async annotated(pgn: string): Promise<string> {
    const analysis = await this.analysis();
    const { assessment } = this.state;
    const line = this.state.game.mainline();
    if (!assessment?.report.settled)
      return analysis.annotate(
        pgn,
        assessment?.evaluations ?? line.map(() => null),
      );
    // All results of the engine are known.
    return (
      await analysis.analyseGame(pgn, {
        ...this.#options(line, new AbortController().signal),
        annotate: true,
      })
    ).pgn!;
  }

  /** Begins the analysis of another main line. Changes of variations do not affect it. */
  #change(isOther: boolean): void {
    const line = this.state.game.mainline();
    const text = JSON.stringify(gameOf(line));
    if (!isOther && text === this.#line) return;
    if (isOther) {
      this.#found.clear();
    }
    this.#line = text;
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    this.#unanswered = new Set();
    this.state.setAssessment(undefined);
    this.state.setProgress(undefined);
    if (line.length > 1) this.resume();
  }

  /** Continues the analysis. Results that are known are not searched again. */
  resume(): void {
    window.clearTimeout(this.#timer);
    const signal = this.#abort.begin();
    if (this.settings.engine)
      this.state.setProgress({ pass: 0, done: 0, of: 0, isRunning: true });
    this.#timer = window.setTimeout(() => void this.#run(signal), REST);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { state } = this;
    const line = state.game.mainline();
    const before = state.assessment?.report;
    // An analysis that begins again does not replace a report of more moves.
    const isMore = ({ white, black, known }: Report) =>
      !before ||
      (white.judged + black.judged >=
        before.white.judged + before.black.judged &&
        known >= before.known);
    const show = throttle(SHOW_INTERVAL, (progress: GameProgress) => {
      if (signal.aborted) return;
      const report = progress.report();
      if (isMore(report)) this.#show(line, report, progress.evaluations());
      const { pass, done, of } = progress;
      if (this.settings.engine)
        state.setProgress({ pass, done, of, isRunning: true });
    });
    try {
      await this.lookups.answers(line, signal);
      const analysis: Analysis = await this.analysis();
      const { report, evaluations } = await analysis.analyseGame(gameOf(line), {
        ...this.#options(line, signal),
        onProgress: show,
      });
      if (signal.aborted) return;
      // Ends the updates of the progress.
      this.#abort.abort();
      this.#show(line, report, evaluations);
      state.setProgress(undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (this.hasStockfish && (error as ShelfishError).code === "engine") {
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

  #options(line: readonly Node[], signal: AbortSignal): AnalyseGameOptions {
    const lookupMany = async () => {
      const answers = await this.lookups.answers(line, signal);
      this.#unanswered = new Set(
        line.flatMap(({ fen }, index) =>
          answers[index] === undefined ? [fen] : [],
        ),
      );
      return answers.map((answer) => answer ?? null);
    };
    const { engine, nodes } = this.settings;
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
      engine: engine ? () => this.#engine(this.hasStockfish) : null,
      draft: engine ? () => this.#engine(false) : null,
      nodes,
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

  #show(
    line: readonly Node[],
    report: Report,
    evaluations: readonly (FoundEval | null)[],
  ): void {
    // The report of two positions is the first that says anything.
    if (evaluations.filter(Boolean).length < 2) return;
    const moves: Assessment["moves"] = new Map(
      report.moves.flatMap((move) =>
        line[move.ply] ? [[line[move.ply] as Node, move]] : [],
      ),
    );
    const found = line.flatMap(({ fen }, index) =>
      evaluated(fen, evaluations[index]),
    );
    this.state.setAssessment({ report, evaluations, moves }, found);
  }
}

/** Converts an evaluation by an engine or by Stockfish. The state has the other evaluations. */
function evaluated(
  fen: string,
  known: FoundEval | null | undefined,
): Evaluated[] {
  if (known?.from !== "engine" && known?.from !== "uci") return [];
  const { depth = 0, knodes = 0, pvs } = known;
  // Only the score of the second variation is known.
  const from = known.from === "uci" ? "stockfish" : known.from;
  return [{ fen, from, depth, knodes, pvs: [pvs[0]] }];
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
