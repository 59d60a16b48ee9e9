/** Evaluates the positions after moves with the engine, with few nodes each. The engine loads for the first search. */
import type { EngineEvaluation } from "shelfish/engine";
import { Reopenable } from "../loading/load-once";
import { MEBIBYTE } from "../text/units";

/** Nodes of the search of a position. */
const NODES = 30_000;
/** Size of the engine's table: so few nodes need no larger table. */
const MEMORY = 2 * MEBIBYTE;
/** Maximum number of results that are kept. */
const MAX_KNOWN = 5_000;

export class ContinuationSearch {
  readonly #known = new Map<string, EngineEvaluation>();
  readonly #engine = new Reopenable(async () =>
    (await import("shelfish/engine")).openEngine({ memoryBytes: MEMORY }),
  );

  /** Returns the result for a position, if the engine has searched it. */
  of(fen: string): EngineEvaluation | undefined {
    return this.#known.get(fen);
  }

  /** Searches positions in order, and calls `found` after each search. Throws if the signal is aborted or the engine fails. */
  async search(
    fens: readonly string[],
    signal: AbortSignal,
    found: () => void,
  ): Promise<void> {
    const engine = await this.#engine.open();
    signal.throwIfAborted();
    await engine.analyseMany(fens, {
      nodes: NODES,
      signal,
      castling: "chess960",
      onAnswer: (index, answer) => {
        if (!("pvs" in answer)) return;
        if (this.#known.size >= MAX_KNOWN) this.#known.clear();
        this.#known.set(fens[index] ?? "", answer);
        found();
      },
    });
  }

  /** Ends the Worker of the engine. */
  close(): void {
    this.#engine.close();
  }
}
