// Endgame tables: exact results of positions with few pieces.

import { connect } from "./shared/connect.js";
import { enter, enterSync, ShelfishError } from "./shared/errors.js";
import { Opened } from "./shared/opened.js";
import type { Kinds } from "./shared/options.js";
import { endingScore } from "./shared/score.js";
import type {
  CallOptions,
  EndgameResult,
  OpenOptions,
  Source,
  Stats,
} from "./shared/types.js";
import { imports, open, start } from "./shelfish_endgames.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "./shared/errors.js";
export type * from "./shared/types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/endgames",
  file: "shelfish_endgames_bg.wasm",
  call: "openEndgames(url, { wasm })",
  manifest: "endgames.index",
};

/** Adds the shape of an evaluation to a result. */
function withScore(result: EndgameResult): EndgameResult {
  const { cp, text: score } = endingScore(result);
  const best = result.moves.slice(0, 1);
  const pvs = best.map(({ uci, san }) => ({
    cp,
    score,
    uci: [uci],
    san: [san],
  }));
  return { ...result, depth: 0, knodes: 0, pvs };
}

const PROBE: Kinds<CallOptions> = { signal: "signal", castling: "castling" };

/** Open endgame tables. {@link openEndgames} returns it. */
export class Endgames extends Opened<Pick<Stats, "requests" | "bytes">> {
  /** Maximum number of pieces of a table, kings included. */
  get maxPieces(): number {
    return enterSync(() => this.reader.maxPieces());
  }

  /**
   * Returns the exact result of a position and of all its legal moves.
   *
   * Rejects with a {@link ShelfishError}, with code `castling`, `pieces` or `table` if the tables do not contain the position.
   */
  probe(fen: string, options?: CallOptions): Promise<EndgameResult> {
    return this.lookUp("probe", [fen], options, PROBE, "one").then(withScore);
  }

  /**
   * Returns the exact results of positions, in the same order. The positions share requests. If a position fails, its answer is
   * the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the tables are closed.
   */
  probeMany(
    fens: Iterable<string>,
    options?: CallOptions,
  ): Promise<Array<EndgameResult | ShelfishError>> {
    return this.lookUp("probeMany", fens, options, PROBE, "all").then(
      (results: any[]) =>
        results.map((result) =>
          result instanceof ShelfishError ? result : withScore(result),
        ),
    );
  }
}

/** Options of `openEndgames`. */
export type OpenEndgamesOptions = Omit<OpenOptions, "integrity">;

/**
 * Opens Syzygy tables by the URL of their `endgames.index` (`shelfish endgames index` writes it), or of their folder with a slash
 * at the end. In Node also by the path of a folder.
 *
 * The first call loads the WASM module, which is not the module of evaluations.
 *
 * Rejects with a {@link ShelfishError}.
 */
export function openEndgames(
  tables: string | URL | Source,
  options?: OpenEndgamesOptions,
): Promise<Endgames> {
  return enter(
    async () =>
      new Endgames(
        await connect("openEndgames", MODULE, open, tables, options),
      ),
  );
}
