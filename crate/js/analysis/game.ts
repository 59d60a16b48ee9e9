// The analysis of a game by a database and an engine. The module decides which positions the engine searches.

import { endingScore, probe } from "../shared/score.js";
import { onAbort, throwIfAborted } from "../shared/abort.js";
import { isError, ShelfishError } from "../shared/errors.js";
import { checked, joinMoves, type Kinds, limit } from "../shared/options.js";
import { awaited, by, given, Parts } from "../shared/parts.js";
import type {
  EndgameTables,
  Ending,
  EvaluationSource,
} from "../shared/types.js";
import { GameReview } from "../shelfish_analysis.js";
import { openResultStore, type ResultStore } from "./result-store.js";
import { encode } from "./encode.js";
import type {
  GameToAnalyse,
  AnalyseGameOptions,
  GameAnalysis,
  GameEngine,
  GameProgress,
  KnownEval,
} from "./types.js";

const OPTIONS: Kinds<AnalyseGameOptions> = {
  database: "other",
  endgames: "other",
  engine: "other",
  draft: "other",
  nodes: "other",
  usePgnEvals: "flag",
  annotate: "flag",
  indexedDB: "cache",
  onProgress: "function",
  signal: "signal",
};

/** Number of passes of the module: see `review.rs`. */
const PASSES = 6;

/** Positions that the engine searches in order. */
interface Sequence {
  positions: number[];
  fens: string[];
  nodes: number;
  lines: number;
}

/** Analyses a game. */
export async function analyseGame(
  game: GameToAnalyse,
  options: AnalyseGameOptions | undefined,
): Promise<GameAnalysis> {
  const {
    database,
    endgames,
    engine,
    draft,
    nodes,
    usePgnEvals,
    annotate: annotates,
    indexedDB = true,
    onProgress,
    signal,
  } = awaited(checked("analyseGame", options, OPTIONS));
  throwIfAborted(signal, "the analysis");
  // What the options name by a URL is opened when it is needed, and closed at the end.
  const parts = new Parts();
  const openEnding = async () =>
    (await given<EndgameTables<Ending>>(
      parts,
      "endgames",
      endgames,
      "probeMany",
      async (url) =>
        (await import("../endgames.js")).openEndgames(
          url,
          by("shelfish/analysis"),
        ),
      false,
    ))!;
  const review = new GameReview(
    game.fen,
    joinMoves("moves", game.moves),
    limit("nodes", nodes, 2 ** 40) ?? 0,
  );
  // Ends the searches after an abort, and after an error of another search.
  const abort = new AbortController();
  const remove = signal && onAbort(signal, () => abort.abort(signal.reason));
  let store: ResultStore | undefined;
  try {
    const { positions } = game;
    const progress = {
      pass: 0,
      passes: engine ? PASSES : 0,
      done: 0,
      of: positions.length,
      report: () => review.report(),
      evaluations: () => review.evaluations(),
    };
    onProgress?.(progress);
    const query = { signal };
    const databaseError = database
      ? await give(
          review,
          async () => {
            const open = await given<EvaluationSource>(
              parts,
              "database",
              database,
              "lookupMany",
              async (url) =>
                (await import("../index.js")).openDatabase(
                  url,
                  by("shelfish/analysis"),
                ),
              false,
            );
            return open!.lookupMany(positions, query);
          },
          (answer) => answer,
          signal,
        )
      : undefined;
    const endgamesError = endgames
      ? await give(
          review,
          () => probe(positions, openEnding, query),
          endgameEval,
          signal,
        )
      : undefined;
    if (usePgnEvals) review.give(...encode(game.evaluations));
    progress.done = progress.of;
    onProgress?.(progress);
    if (engine) {
      const { name = "shelfish-analysis", sequences = 5_000 } =
        typeof indexedDB === "object" ? indexedDB : {};
      if (indexedDB) store = openResultStore(name, sequences);
      const openEngine = async (pass: number) => {
        const isDraft = pass === 1 && draft;
        return (await given<GameEngine>(
          parts,
          isDraft ? "draft" : "engine",
          isDraft || engine,
          "analyseSequence",
          async () => (await import("../engine.js")).openEngine(),
          false,
        ))!;
      };
      await search(review, openEngine, {
        progress,
        onProgress,
        signal: abort.signal,
        store,
      });
    }
    return {
      report: review.report(),
      evaluations: review.evaluations(),
      ...(annotates && { pgn: review.annotate(game.text ?? "") }),
      databaseError,
      endgamesError,
    };
  } finally {
    remove?.();
    abort.abort();
    store?.close();
    parts.close();
    review.free();
  }
}

/** Converts the result of endgame tables, which may be another reader's. Returns `null` without a result. */
function endgameEval(answer: Ending | Error | undefined): KnownEval | null {
  if (!answer || isError(answer)) return null;
  const uci = answer.moves.slice(0, 1).map(({ uci }) => uci);
  return { from: "endgames", pvs: [{ cp: endingScore(answer).cp, uci }] };
}

/** Adds the answers of a database or of endgame tables. Returns the first error. */
async function give<Answer>(
  review: GameReview,
  ask: () => Promise<ReadonlyArray<Answer | Error>>,
  convert: (answer: Answer | Error) => KnownEval | Error | null,
  signal: AbortSignal | undefined,
): Promise<Error | undefined> {
  try {
    const answers = await ask();
    review.give(...encode(answers.map(convert)));
    // The end of the game and a missing table are no failures.
    return answers.find(
      (answer): answer is Error =>
        isError(answer) &&
        !/^(castling|over|pieces|table)$/.test((answer as ShelfishError).code),
    );
  } catch (error) {
    throwIfAborted(signal, "the analysis");
    if (error instanceof ShelfishError && error.code === "usage") throw error;
    return error as Error;
  }
}

interface Search {
  progress: { -readonly [Name in keyof GameProgress]: GameProgress[Name] };
  onProgress: AnalyseGameOptions["onProgress"];
  signal: AbortSignal;
  store: ResultStore | undefined;
}

/** Searches the positions that the review requests, pass by pass. */
async function search(
  review: GameReview,
  openEngine: (pass: number) => Promise<GameEngine>,
  { progress, onProgress, signal, store }: Search,
): Promise<void> {
  for (
    let sequences: Sequence[] = review.next_pass();
    sequences.length > 0;
    sequences = review.next_pass()
  ) {
    progress.pass++;
    const engine = await openEngine(progress.pass);
    const { name } = engine;
    [progress.done, progress.of] = [
      0,
      sequences.reduce((sum, { fens }) => sum + fens.length, 0),
    ];
    const answer = (
      position: number | undefined,
      found: KnownEval | undefined,
    ) => {
      if (position === undefined || !found || signal.aborted) return;
      const [numbers, line] = encode([found]);
      review.answer(position, numbers, line);
      progress.done++;
      onProgress?.(progress);
    };
    const run = async ({ positions, fens, nodes, lines }: Sequence) => {
      const key = [
        // Earlier versions stored another shape.
        "pvs",
        name,
        nodes,
        ...(lines > 1 ? [`${lines} lines`] : []),
        ...fens,
      ].join("|");
      const stored = await store?.get(key);
      if (stored?.length === fens.length)
        return stored.forEach((found, index) =>
          answer(positions[index], found),
        );
      const results: KnownEval[] = [];
      await engine.analyseSequence(fens, {
        ...{ nodes, multiPv: lines, signal },
        onAnswer: (index, { from = "engine", depth, knodes, pvs }) => {
          results[index] = { from, depth, knodes, pvs: pvs.slice(0, 2) };
          answer(positions[index], results[index]);
        },
      });
      store?.put(key, results);
    };
    await Promise.all(sequences.map(run));
    throwIfAborted(signal, "the analysis");
  }
}
