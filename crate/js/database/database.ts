// Databases of evaluations.
/// <reference lib="esnext.disposable" preserve="true" />

import { enter, type ShelfishError } from "../shared/errors.js";
import { OpenTable } from "../shared/opened.js";
import { checked, type Kinds, usage } from "../shared/options.js";
import { withLines } from "../shared/score.js";
import type {
  LichessEvaluation,
  LichessLookupOptions,
  LookupOptions,
  Manifest,
  PositionEval,
} from "../shared/types.js";

const OPTIONS: Kinds<LookupOptions> = {
  signal: "signal",
  castling: "castling",
  minDepth: "least0",
  minKnodes: "least0",
  minPvs: "least0",
  san: "flag",
};

const LOOKUP: Kinds<
  LookupOptions & Omit<LichessLookupOptions, "format"> & { format: string }
> = { ...OPTIONS, format: "other", multiPv: "least1" };

/** An open database. `openDatabase` returns it. */
export class Database extends OpenTable<Manifest> {
  /**
   * Looks up a position. Returns `null` if the database does not contain the position, or if `minDepth`, `minKnodes` and
   * `minPvs` exclude all its evaluations. Rejects with code `over` if the game is over.
   *
   * The FEN may have four or six fields. Castling rights may be in any order and in the notation of Shredder-FEN. An
   * en-passant square is ignored if no capture is legal.
   *
   * Rejects with a {@link ShelfishError}.
   */
  lookup(
    fen: string,
    options: LichessLookupOptions,
  ): Promise<LichessEvaluation | null>;
  lookup<San extends boolean = boolean>(
    fen: string,
    options?: LookupOptions<San>,
  ): Promise<PositionEval<San> | null>;
  lookup(
    fen: string,
    options?: LookupOptions | LichessLookupOptions,
  ): Promise<PositionEval | LichessEvaluation | null> {
    const isPlain =
      typeof options !== "object" ||
      !options ||
      !("format" in options || "multiPv" in options);
    if (isPlain) return this.lookUp("lookup", [fen], options, OPTIONS, "one");
    return enter(async () => {
      const {
        format,
        multiPv = 1,
        ...rest
      } = checked<
        LookupOptions & {
          format?: string | undefined;
          multiPv?: number | undefined;
        }
      >("lookup", options, LOOKUP);
      if (format && format !== "lichess")
        throw usage(
          `format: expected "lichess", found ${JSON.stringify(format)}`,
        );
      const answer: PositionEval | null = await this.lookUp(
        "lookup",
        [fen],
        format ? { castling: "chess960", ...rest } : rest,
        OPTIONS,
        "one",
      );
      return answer && format ? toLichess(fen, answer, multiPv) : answer;
    });
  }

  /**
   * Looks up positions, and returns the answers in the same order. Fetches each block once, nearby blocks by a single
   * request, and all in parallel. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the database is closed.
   */
  lookupMany<San extends boolean = boolean>(
    fens: Iterable<string>,
    options?: LookupOptions<San>,
  ): Promise<Array<PositionEval<San> | null | ShelfishError>> {
    return this.lookUp("lookupMany", fens, options, OPTIONS, "all");
  }
}

/** Converts the deepest evaluation with so many variations, or else with the most variations. */
function toLichess(
  fen: string,
  answer: PositionEval,
  multiPv: number,
): LichessEvaluation {
  const { knodes, depth, pvs } = withLines(answer, multiPv);
  const variations = pvs.slice(0, multiPv).map(({ uci, cp, mate }) => ({
    moves: uci.join(" "),
    ...(mate === undefined ? { cp: cp! } : { mate }),
  }));
  return { fen, knodes, depth, pvs: variations };
}
