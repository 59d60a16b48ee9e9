/** Looks positions up in the database: the main line of a game with one call, and the position on the board. */
import { type DatabaseClient, explain, summary } from "../database/client";
import type { PositionEval } from "shelfish";
import type { Node } from "../game/game";
import { Latest } from "../loading/loading";
import type { State } from "../state/state";
import { plural } from "../text/words";

/** Milliseconds before a lookup is shown as slow: faster answers appear without flicker. */
const SLOW = 120;

/** Adds the answers of a database to the state. */
export class Lookups {
  /** The lookup of the position on the board; a step cancels it. */
  readonly #boardLookup = new Latest();
  #gameLookup: { done: Promise<void>; abort: AbortController } | undefined;
  /** Whether the last lookup of a whole game failed. */
  #isFailed = false;

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
  ) {
    state.on(({ game, node }) => {
      if (game) this.#lookUpGame();
      if (node) void this.#lookUpBoard();
    });
  }

  /** Repeats failed lookups. */
  retry(): void {
    this.#lookUpGame();
    void this.#lookUpBoard();
  }

  /**
   * Returns the answers of the database for the positions of a line, after the running lookups. Only positions without an answer are looked up. They
   * are `undefined` if the database fails.
   */
  async answers(
    line: readonly Node[],
    signal: AbortSignal,
  ): Promise<(PositionEval | null | undefined)[]> {
    const { state } = this;
    await Promise.race([this.#gameLookup?.done, aborted(signal)]);
    const isOpen = ({ fen, position }: Node) =>
      position.hasDests() && !state.databaseEvals.has(fen);
    const fens = [...new Set(line.filter(isOpen).map(({ fen }) => fen))];
    if (fens.length > 0 && !this.#isFailed && !signal.aborted) {
      try {
        state.addDatabaseEvals(
          (await this.client.lookupMany(fens, signal)).answers,
        );
      } catch {
        // The lookup of the position on the board fails too and reports the error.
      }
    }
    return line.map(({ fen }) => state.databaseEvals.get(fen));
  }

  /** Looks up the whole main line, so that steps need no request. */
  #lookUpGame(): void {
    this.#gameLookup?.abort.abort();
    this.#gameLookup = undefined;
    this.#isFailed = false;
    const line = this.state.game.mainline();
    if (line.length < 2) return;
    const abort = new AbortController();
    const fens = line
      .filter((at) => at.position.hasDests())
      .map(({ fen }) => fen);
    const run = async () => {
      try {
        const { answers, cost } = await this.client.lookupMany(
          fens,
          abort.signal,
        );
        if (abort.signal.aborted) return;
        this.state.setStatus({
          cost: `${plural(fens.length, "position")}: ${summary(cost)}`,
        });
        this.state.addDatabaseEvals(answers);
      } catch {
        // The lookup of the position on the board fails too and reports the error.
        this.#isFailed ||= !abort.signal.aborted;
      } finally {
        if (this.#gameLookup?.abort === abort) this.#gameLookup = undefined;
      }
    };
    this.#gameLookup = { done: run(), abort };
  }

  async #lookUpBoard(): Promise<void> {
    const signal = this.#boardLookup.begin();
    const { state } = this;
    const { fen, position } = state.node;
    const { cost } = state.status;
    if (!position.hasDests())
      return state.setStatus({
        cost: "Nothing to look up: the game is over here.",
      });
    if (state.databaseEvals.has(fen)) return state.setStatus({ cost });
    const slow = window.setTimeout(
      () => state.setStatus({ cost: "", waiting: true }),
      SLOW,
    );
    try {
      await Promise.race([this.#gameLookup?.done, aborted(signal)]);
      if (signal.aborted || state.databaseEvals.has(fen)) return;
      const { answer, cost } = await this.client.lookup(fen, signal);
      if (signal.aborted) return;
      state.setStatus({ cost: summary(cost) });
      state.addDatabaseEvals([[fen, answer]]);
    } catch (error) {
      if (!signal.aborted) state.setStatus({ error: explain(error) });
    } finally {
      window.clearTimeout(slow);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
