// Endgame tables: exact results of positions with few pieces.
/// <reference lib="esnext.disposable" preserve="true" />

import { withOwnSignal } from "../shared/abort.js";
import { connect } from "../shared/connect.js";
import {
  enter,
  enterSync,
  type ErrorFields,
  ShelfishError,
} from "../shared/errors.js";
import { checked, fenList, fenText, type Kinds } from "../shared/options.js";
import type { OpenOptions, Source } from "../shared/types.js";
import {
  type Endgames as Reader,
  imports,
  open,
  start,
} from "../shelfish_endgames.js";
import type { EndgameMove, EndgameResult, ProbeOptions } from "./types.js";

export {
  type ErrorCode,
  type ErrorFields,
  ShelfishError,
} from "../shared/errors.js";
export type {
  FetchedRange,
  OpenOptions,
  Source,
  Wasm,
} from "../shared/types.js";
export type * from "./types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/endgames",
  file: "shelfish_endgames_bg.wasm",
  call: "openEndgames(url, { wasm })",
  manifest: "endgames.index",
};

const PROBE: Kinds<ProbeOptions> = { signal: "signal", castling: "castling" };

/** Open endgame tables. {@link openEndgames} returns it. */
export class Endgames {
  #reader: Reader;

  private constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** @internal */
  static of(reader: Reader): Endgames {
    return new Endgames(reader);
  }

  /** Maximum number of pieces of a table, kings included. */
  get maxPieces(): number {
    return enterSync(() => this.#reader.maxPieces());
  }

  /**
   * Returns the exact result of a position and of all its legal moves.
   *
   * Rejects with a {@link ShelfishError}, with code `castling`, `pieces` or `table` if the tables do not contain the position.
   */
  probe(fen: string, options?: ProbeOptions): Promise<EndgameResult> {
    return enter(async (trace) => {
      const [answer] = await this.#probeMany(
        "probe",
        [fenText("probe", fen)],
        options,
      );
      if (answer && "code" in answer) throw trace(answer);
      return answer as EndgameResult;
    });
  }

  /**
   * Returns the exact results of positions, in the same order. The positions share requests. If a position fails, its answer is
   * the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the tables are closed.
   */
  probeMany(
    fens: Iterable<string>,
    options?: ProbeOptions,
  ): Promise<Array<EndgameResult | ShelfishError>> {
    return enter(async (trace) => {
      const answers = await this.#probeMany(
        "probeMany",
        fenList("probeMany", fens),
        options,
      );
      return answers.map((answer) =>
        "code" in answer ? (trace(answer) as ShelfishError) : answer,
      );
    });
  }

  async #probeMany(
    call: string,
    fens: string[],
    options: ProbeOptions | undefined,
  ): Promise<Array<EndgameResult | ErrorFields>> {
    const { signal, ...rest } = checked(call, options, PROBE);
    return withOwnSignal(signal, async (own) =>
      this.#reader.lookup(fens, { ...rest, signal: own }),
    );
  }

  /**
   * Returns the best moves of both sides from a position until the next capture, pawn move or checkmate. The line of a draw is
   * empty.
   *
   * Rejects with a {@link ShelfishError}.
   */
  line(fen: string, options?: ProbeOptions): Promise<EndgameMove[]> {
    return enter(async () => {
      const text = fenText("line", fen);
      const { signal, ...rest } = checked("line", options, PROBE);
      return withOwnSignal(signal, async (own) =>
        this.#reader.line(text, { ...rest, signal: own }),
      );
    });
  }

  /** Returns the number of requests and of received bytes since the opening. */
  stats(): { requests: number; bytes: number } {
    return enterSync(() => {
      const [requests = 0, bytes = 0] = this.#reader.stats();
      return { requests, bytes };
    });
  }

  /** Clears the caches in memory and in IndexedDB. */
  clear(): Promise<void> {
    return enter(() => this.#reader.clear());
  }

  /** Frees the memory. Probes in progress reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes at the end of a block: `using endgames = await openEndgames(url)`. */
  [Symbol.dispose](): void {
    this.close();
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
  return enter(async () =>
    Endgames.of(await connect("openEndgames", MODULE, open, tables, options)),
  );
}
