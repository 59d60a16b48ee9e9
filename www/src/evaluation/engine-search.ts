/** Searches the position on the board with the engine. The package decides which positions need a search. */
import type { Evaluated, Evaluator } from "shelfish/engine";
import type { Node } from "../game/game";
import { Parts } from "../../../crate/js/shared/parts.ts";
import { Latest, throttle } from "../loading/loading";
import { needsEngine } from "../score/known-score";
import type { Settings } from "../settings/settings";
import type { State } from "../state/state";

/** Milliseconds without a change of the board before a search begins. */
const DELAY = 80;
/** Limits of a search that was not requested. */
const LIMITS = { depth: 24, movetime: 20_000 };
/** The engine's maximum: the search ends when it is stopped. */
const UNLIMITED = { depth: 127 };
/** Passes of the game's analysis that go first: they complete the graph. */
const FIRST_PASSES = 2;
/** Minimum number of milliseconds between two iterations that are shown. */
const SHOW_INTERVAL = 100;

/** The settings of the search. */
type SearchSettings = Pick<Settings, "engine" | "lines">;

/** Runs the engine. Its module is loaded for the first search. */
export class EngineSearch {
  readonly #parts = new Parts();
  readonly #search = new Latest();
  /** FEN of the last position that was searched. */
  #searched: string | undefined;
  #timer = 0;

  constructor(
    private readonly state: State,
    private settings: SearchSettings,
  ) {
    state.join(({ node, known, status, tree, progress, search }) => {
      if (node || search) this.#stop();
      const isAnswered =
        known && [...known].some((fen) => state.databaseEvals.has(fen));
      if (
        node ||
        tree ||
        isAnswered ||
        search ||
        progress ||
        (status && state.status.error)
      )
        this.#schedule();
    });
  }

  /** Changes the settings. Evaluations stay. */
  set(settings: Partial<SearchSettings>): void {
    const { lines } = this.settings;
    this.settings = { ...this.settings, ...settings };
    this.#stop();
    if (this.settings.lines > lines)
      this.state.removeEngineEval(this.state.node.fen);
    if (this.settings.engine) return this.#schedule();
    this.state.setDeep(false);
    window.clearTimeout(this.#timer);
    this.#parts.close();
  }

  #stop(): void {
    this.#search.abort();
    this.#searched = undefined;
  }

  #isWanted(node: Node): boolean {
    const { state } = this;
    if (!this.settings.engine || this.#searched === node.fen) return false;
    if (state.isDeep) return node.position.hasDests();
    const { isRunning = false, pass = 0 } = state.progress ?? {};
    const waits =
      isRunning &&
      pass <= FIRST_PASSES &&
      state.game.mainline().some(({ fen }) => fen === node.fen);
    return !waits && needsEngine(node, state);
  }

  #schedule(): void {
    if (!this.#isWanted(this.state.node)) return;
    window.clearTimeout(this.#timer);
    // Loading takes one or two round trips and starts at once. The search reports a failure.
    this.#parts
      .get("evaluator", openEvaluator)
      .then((evaluator) => evaluator.preload())
      .catch(() => {});
    this.#timer = window.setTimeout(() => {
      const { node } = this.state;
      if (this.#isWanted(node)) void this.#searchBoard(node);
    }, DELAY);
  }

  /** Searches the position on the board until another position is shown. */
  async #searchBoard({ fen }: Node): Promise<void> {
    const { state } = this;
    this.#searched = fen;
    const known = state.engineEvals.get(fen);
    const signal = this.#search.begin();
    const show = throttle(SHOW_INTERVAL, (found: Evaluated) => {
      if (!signal.aborted) state.addEngineEval(fen, found);
    });
    const limits = state.isDeep ? UNLIMITED : LIMITS;
    try {
      const found = await (
        await this.#parts.get("evaluator", openEvaluator)
      ).evaluate(fen, {
        ...limits,
        multiPv: this.settings.lines,
        known,
        signal,
        castling: "chess960",
        onInfo: show,
      });
      if (found) show(found, true);
      if (!signal.aborted) state.setDeep(false);
    } catch (error) {
      if (signal.aborted) return;
      // The page works without the engine: positions then stay without an evaluation.
      console.warn("The engine:", error);
      state.setDeep(false);
    }
  }
}

async function openEvaluator(): Promise<Evaluator> {
  // Both modules load at the same time. The evaluator reports a failure of the engine.
  const { openEngine, openEvaluator } = await import("shelfish/engine");
  return openEvaluator({ engine: () => openEngine() });
}
