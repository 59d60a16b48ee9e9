// Reports on games, and PGN with evaluations.

import { unlessAborted } from "./shared/abort.js";
import { enter, enterSync } from "./shared/errors.js";
import { ready } from "./shared/load.js";
import { checked, joinMoves, usage } from "./shared/options.js";
import {
  annotate,
  find_move,
  GameReader,
  imports,
  read,
  report,
  start,
} from "./shelfish_analysis.js";
import { encode } from "./analysis/encode.js";
import { analyseGame } from "./analysis/game.js";
import type {
  GameToAnalyse,
  Analysis,
  AnalysisOptions,
  Game,
  PgnGame,
  ReadOptions,
} from "./analysis/types.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "./shared/errors.js";
export type { Wasm } from "./shared/types.js";
export type * from "./analysis/types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/analysis",
  file: "shelfish_analysis_bg.wasm",
  call: "openAnalysis({ wasm })",
};

const analysis: Analysis = {
  report: (game) =>
    enterSync(() => {
      const { fen, moves, evaluations } = checked<Game>("report", game, {
        fen: "other",
        moves: "other",
        evaluations: "other",
      });
      return report(
        fen ?? undefined,
        joinMoves("moves", moves),
        ...encode(evaluations),
      );
    }),
  annotate: (game, evaluations) =>
    enterSync(() =>
      annotate(pgnText("annotate", game), ...encode(evaluations)),
    ),
  read: (pgn, options) =>
    enterSync(() => read(pgnText("read", pgn), isChess960("read", options))),
  readGames,
  findMove: (fen, text, options) =>
    enterSync(() => find_move(fen, text, isChess960("findMove", options))),
  analyseGame: (game, options) =>
    enter(() =>
      analyseGame(
        Array.isArray((game as Partial<PgnGame> | null)?.moves)
          ? (game as GameToAnalyse)
          : read(pgnText("analyseGame", game), false),
        options,
      ),
    ),
};

const isChess960 = (call: string, options: ReadOptions | undefined) =>
  checked(call, options, { castling: "castling" }).castling === "chess960";

function* readGames(
  file: string | Uint8Array,
  options?: ReadOptions,
): Generator<PgnGame> {
  const bytes =
    typeof file === "string" ? new TextEncoder().encode(file) : file;
  if (!ArrayBuffer.isView(bytes))
    throw usage(
      `readGames: expected a text or bytes, found ${typeof (file as unknown)}`,
    );
  const reader = new GameReader(bytes, isChess960("readGames", options));
  try {
    for (let game; (game = reader.next_game() as PgnGame | undefined);)
      yield game;
  } finally {
    reader.free();
  }
}

/** Returns a PGN, or the text of a game that was read. */
function pgnText(call: string, game: unknown): string {
  const text =
    typeof game === "object" ? (game as Partial<PgnGame> | null)?.text : game;
  if (typeof text !== "string")
    throw usage(`${call}: expected a PGN as text, found ${typeof game}`);
  return text;
}

/**
 * Loads the WASM module of the analysis once.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function openAnalysis(options?: AnalysisOptions): Promise<Analysis> {
  return enter(async () => {
    const { wasm, signal } = checked("openAnalysis", options, {
      wasm: "other",
      signal: "signal",
    });
    await unlessAborted(ready(MODULE, wasm), signal, "loading");
    return analysis;
  });
}
