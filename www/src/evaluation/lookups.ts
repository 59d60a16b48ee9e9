/** Asks the database: the main line of a game in one go, and the position on the board first of all. */
import { summary } from "../database/cost";
import { plural } from "../text/units";
import { type DatabaseClient, explain } from "../database/client";
import type { State } from "../state/state";

/** Keeps the state in touch with a database. */
export class Lookups {
  /** The lookup of the position on the board; stepping on cancels it. */
  #looking = new AbortController();
  /** The whole game's lookup under way, if any. */
  #sweep: { done: Promise<void>; abort: AbortController } | undefined;

  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
  ) {
    state.on(({ game, node }) => {
      if (game) this.#begin();
      if (node) void this.#consult();
    });
  }

  /** Asks again, after a failure. */
  retry(): void {
    this.#begin();
    void this.#consult();
  }

  /** Looks the whole main line up, so that every step of it is instant. */
  #begin(): void {
    this.#sweep?.abort.abort();
    this.#sweep = undefined;
    const line = this.state.game.mainline();
    if (line.length < 2) return;
    const abort = new AbortController();
    const wanted = line.filter((at) => at.position.hasDests()).map(({ fen }) => fen);
    const run = async () => {
      try {
        const { answers, cost } = await this.client.lookupMany(wanted, abort.signal);
        if (abort.signal.aborted) return;
        this.state.report({ cost: `Whole game, ${plural(wanted.length, "position")}: ${summary(cost)}` });
        this.state.learn(wanted.flatMap((fen, index) => (answers[index] === undefined ? [] : [[fen, answers[index]] as const])));
      } catch {
        // The lookup of the position on the board meets the same failure and reports it.
      } finally {
        if (this.#sweep?.abort === abort) this.#sweep = undefined;
      }
    };
    this.#sweep = { done: run(), abort };
  }

  /** Looks up the position on the board. The latest question wins. */
  async #consult(): Promise<void> {
    this.#looking.abort();
    this.#looking = new AbortController();
    const { signal } = this.#looking;
    const { state } = this;
    const { fen, position } = state.node;
    const { cost } = state.status;
    if (!position.hasDests()) return state.report({ cost: "Nothing to look up: the game is over here." });
    if (state.answers.has(fen)) return state.report({ cost });
    // A quick answer should not flicker past a "looking it up".
    const slow = window.setTimeout(() => state.report({ cost: "", waiting: true }), 120);
    try {
      await Promise.race([this.#sweep?.done, aborted(signal)]);
      if (signal.aborted || state.answers.has(fen)) return;
      const { answer, cost } = await this.client.lookup(fen, signal);
      if (signal.aborted) return;
      state.report({ cost: summary(cost) });
      state.learn([[fen, answer]]);
    } catch (error) {
      if (!signal.aborted) state.report({ fault: explain(error) });
    } finally {
      window.clearTimeout(slow);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
