// Asks endgame tables about the positions that they may contain.

import { countPieces, MAX_TABLE_PIECES } from "./endgame.js";

/** The part of endgame tables that a probe needs. */
interface Tables<Result> {
  readonly maxPieces: number;
  probeMany(
    fens: string[],
    options: {
      signal?: AbortSignal | undefined;
      castling?: "standard" | "chess960" | undefined;
    },
  ): Promise<ReadonlyArray<Result>>;
}

/** Asks endgame tables about positions with few pieces. The answers of other positions are `undefined`. A function opens them for a position with at most `pieces` pieces. */
export async function probe<Result>(
  fens: readonly string[],
  given: Tables<Result> | (() => Tables<Result> | PromiseLike<Tables<Result>>),
  options: Parameters<Tables<Result>["probeMany"]>[1],
  pieces = MAX_TABLE_PIECES,
): Promise<(Result | undefined)[]> {
  const answers: (Result | undefined)[] = fens.map(() => undefined);
  if (!fens.some((fen) => countPieces(fen) <= pieces)) return answers;
  const tables = await (typeof given === "function" ? given() : given);
  const few = [...fens.entries()].filter(
    ([, fen]) => countPieces(fen) <= tables.maxPieces,
  );
  const results = await tables.probeMany(
    few.map(([, fen]) => fen),
    options,
  );
  for (const [n, result] of results.entries()) answers[few[n]![0]] = result;
  return answers;
}
