// Hooks for React.

import { useEffect, useState } from "react";
import type {
  GameAnalysis,
  GameProgress,
  FoundEval,
  PgnGame,
  Report,
} from "./analysis/types.js";
import type { ShelfishError } from "./shared/errors.js";
import type { Evaluated, EvaluateOptions } from "./shared/types.js";
import {
  keyOf,
  type OpenOrigins,
  type Origins,
  use,
} from "./elements/origins.js";

export type { Origins } from "./elements/origins.js";

/** The state of an answer. */
export interface Answer<T> {
  /** The answer, or its part so far; `undefined` before the first part. */
  value: T | undefined;
  /** Whether the answer is not complete. */
  isLoading: boolean;
  error: ShelfishError | undefined;
}

/** Options of `useEvaluation`: the origins, and the options of a search. */
export interface UseEvaluationOptions
  extends Origins, Omit<EvaluateOptions, "signal" | "known" | "onInfo"> {}

/** Options of `useGame`: the origins, and the nodes for each position that the engine searches. */
export interface UseGameOptions extends Origins {
  nodes?: number | undefined;
}

/** A game and its report so far. */
export interface AnalysedGame {
  game: PgnGame;
  /** Undefined before the first lookup. */
  report?: Report | undefined;
  /** One evaluation for each position; `null` if it is unknown. */
  evaluations?: (FoundEval | null)[] | undefined;
  /** The game with evaluations, glyphs and comments, when the report is final. */
  pgn?: string | undefined;
}

const NOTHING: Answer<never> = {
  value: undefined,
  isLoading: false,
  error: undefined,
};
const LOADING: Answer<never> = {
  value: undefined,
  isLoading: true,
  error: undefined,
};

/**
 * Asks a question when it changes. An answer to an earlier question is never returned. A component that StrictMode mounts twice, or
 * that changes at once, asks a single question.
 */
function useAnswer<T>(
  question: string | undefined,
  origins: Origins,
  ask: (
    open: OpenOrigins,
    signal: AbortSignal,
    onPart: (value: T) => void,
  ) => Promise<T>,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { question: string }>();
  const key = keyOf(origins);
  useEffect(() => {
    const [, end] = use(origins);
    return end;
  }, [key]);
  useEffect(() => {
    if (question === undefined) return;
    const abort = new AbortController();
    const { signal } = abort;
    const set = (state: Answer<T>) =>
      signal.aborted || setAnswer({ ...state, question });
    queueMicrotask(async () => {
      if (signal.aborted) return;
      const [open, end] = use(origins);
      try {
        const value = await ask(open, signal, (value) =>
          set({ value, isLoading: true, error: undefined }),
        );
        set({ value, isLoading: false, error: undefined });
      } catch (error) {
        set({
          value: undefined,
          isLoading: false,
          error: error as ShelfishError,
        });
      } finally {
        end();
      }
    });
    return () => abort.abort();
  }, [question]);
  if (question === undefined) return NOTHING;
  return answer?.question === question ? answer : LOADING;
}

/**
 * Evaluates a position: by endgame tables, by the database, then by the engine. `value` is `null` if no origin has an evaluation. A
 * search of the engine reports each iteration. Without a FEN, nothing is asked.
 *
 * `error` has code `over` if the game is over in the position.
 */
export function useEvaluation(
  fen: string | undefined,
  options: UseEvaluationOptions,
): Answer<Evaluated | null> {
  const { database, endgames, engine, ...search } = options;
  const origins = { database, endgames, engine };
  const question =
    fen === undefined
      ? undefined
      : JSON.stringify([fen, keyOf(origins), search]);
  return useAnswer<Evaluated | null>(
    question,
    origins,
    async (open, signal, onInfo) =>
      (await open.evaluator()).evaluate(fen!, {
        ...search,
        signal,
        ...(engine && { onInfo }),
      }),
  );
}

/**
 * Analyses the first game of a PGN: its moves and positions at once, then its report, which grows until it is final. Without a PGN,
 * nothing is asked.
 */
export function useGame(
  pgn: string | undefined,
  options: UseGameOptions,
): Answer<AnalysedGame> {
  const { database, endgames, engine, nodes } = options;
  const origins = { database, endgames, engine };
  const question =
    pgn === undefined
      ? undefined
      : JSON.stringify([pgn, keyOf(origins), nodes]);
  return useAnswer<AnalysedGame>(
    question,
    origins,
    async (open, signal, onPart) => {
      const { openAnalysis } = await import("./analysis.js");
      const analysis = await openAnalysis({ signal });
      const game = analysis.read(pgn!);
      onPart({ game });
      // Before the lookups there is no report.
      const onProgress = (progress: GameProgress) =>
        (progress.pass > 0 || progress.done > 0) &&
        onPart({
          game,
          report: progress.report(),
          evaluations: progress.evaluations(),
        });
      const options = {
        ...open.all,
        nodes,
        signal,
        onProgress,
      };
      const {
        report,
        evaluations,
        pgn: annotated,
      }: GameAnalysis = await analysis.analyseGame(game, {
        ...options,
        annotate: true,
      });
      return { game, report, evaluations, pgn: annotated };
    },
  );
}
