/** Searches positions with the engine: the position on the board, and the main line of the game. The package decides which positions need it. */
import type { Evaluated, Evaluator } from "shelfish/evaluator";
import type { Node } from "../game/game";
import { throttle } from "../loading/throttle";
import { needsEngine, needsOwnScore } from "../score/known-score";
import type { State } from "../state/state";

/** Milliseconds without a change of the board before a search begins. */
const DELAY = 80;
/** Limits for the position on the board. */
const BOARD_LIMITS = { depth: 24, movetime: 20_000, multiPv: 2 };
/** Limits for each other position of the game. */
const GAME_LIMITS = { depth: 12 };
/** Minimum number of milliseconds between two iterations that are shown. */
const SHOW_INTERVAL = 100;

/** Runs the engine. Its module is loaded for the first search. */
export class EngineSearch {
  #evaluator: Promise<Evaluator> | undefined;
  #boardSearch = new AbortController();
  /** FEN of the last position on the board that was searched. */
  #searched: string | undefined;
  #gameSearch: AbortController | undefined;
  /** Positions of the game whose search was started. Failed or stopped searches are not repeated until the next game. */
  readonly #tried = new Set<string>();
  #timer = 0;

  constructor(
    private readonly state: State,
    private isEnabled: boolean,
  ) {
    state.on(({ game, node, known, status, tree }) => {
      if (game) this.#stopGame();
      if (node) this.#stopBoard();
      const isAnswered = known && [...known].some((fen) => state.databaseEvals.has(fen));
      if (node || tree || isAnswered || (status && state.status.fault)) this.#schedule();
    });
  }

  /** Turns the engine on or off. Its evaluations stay. */
  enable(isEnabled: boolean): void {
    this.isEnabled = isEnabled;
    if (isEnabled) return this.#schedule();
    this.#stopBoard();
    this.#stopGame();
    window.clearTimeout(this.#timer);
    void this.#evaluator?.then((evaluator) => evaluator.close(), () => {});
    this.#evaluator = undefined;
  }

  #stopBoard(): void {
    this.#boardSearch.abort();
    this.#searched = undefined;
  }

  #stopGame(): void {
    this.#gameSearch?.abort();
    this.#gameSearch = undefined;
    this.#tried.clear();
    if (this.state.progress) this.state.setProgress(undefined);
  }

  #schedule(): void {
    window.clearTimeout(this.#timer);
    if (!this.isEnabled) return;
    // Loading takes one or two round trips and starts at once. The search reports a failure.
    if (needsEngine(this.state.node, this.state)) this.#open().then((evaluator) => evaluator.preload()).catch(() => {});
    this.#timer = window.setTimeout(() => this.#start(), DELAY);
  }

  #start(): void {
    const { node } = this.state;
    if (this.#searched !== node.fen && needsEngine(node, this.state)) void this.#searchBoard(node);
    if (!this.#gameSearch) void this.#searchGame();
  }

  /** Searches the position on the board until another position is shown. */
  async #searchBoard({ fen }: Node): Promise<void> {
    this.#searched = fen;
    const known = this.state.engineEvals.get(fen);
    const { signal } = (this.#boardSearch = new AbortController());
    const show = throttle(SHOW_INTERVAL, (found: Evaluated) => {
      if (!signal.aborted) this.state.addEngineEval(fen, found);
    });
    try {
      const found = await (await this.#open()).evaluate(fen, { ...BOARD_LIMITS, known, signal, castling: "chess960", onInfo: show });
      if (found) show(found, true);
    } catch (error) {
      warn(error, signal);
    }
  }

  /** Searches the missing positions of the main line, several at a time. */
  async #searchGame(): Promise<void> {
    const { state } = this;
    const isOpen = (node: Node) => needsOwnScore(node, state) && !state.engineEvals.has(node.fen) && !this.#tried.has(node.fen);
    const fens = [...new Set(state.game.mainline().filter(isOpen).map(({ fen }) => fen))];
    // The position on the board has its own search.
    if (fens.length === 0 || (fens.length === 1 && fens[0] === state.node.fen)) return;
    const abort = (this.#gameSearch = new AbortController());
    fens.forEach((fen) => this.#tried.add(fen));
    let done = 0;
    const showProgress = () => state.setProgress({ done, of: fens.length, stop: () => abort.abort() });
    showProgress();
    try {
      await (await this.#open()).evaluateMany(fens, {
        ...GAME_LIMITS,
        ...{ signal: abort.signal, castling: "chess960" },
        onAnswer: (index, answer) => {
          const fen = fens[index];
          done++;
          if (abort.signal.aborted || fen === undefined) return;
          if (answer && "pvs" in answer) state.addEngineEval(fen, answer);
          showProgress();
        },
      });
    } catch (error) {
      warn(error, abort.signal);
    }
    // Another search has replaced this one.
    if (this.#gameSearch !== abort) return;
    this.#gameSearch = undefined;
    state.setProgress(undefined);
    this.#schedule();
  }

  #open(): Promise<Evaluator> {
    // One core is left to the page.
    const workers = Math.max(1, Math.min(2, (navigator.hardwareConcurrency || 2) - 1));
    // Both modules load at the same time. The evaluator reports a failure of the engine.
    const engine = () => import("shelfish/engine");
    this.#evaluator ??= (engine().catch(() => {}), import("shelfish/evaluator")).then(({ openEvaluator }) =>
      openEvaluator({ engine: async () => (await engine()).openEngine({ workers }) }),
    );
    // The next search tries again.
    this.#evaluator.catch(() => (this.#evaluator = undefined));
    return this.#evaluator;
  }
}

/** The page works without the engine: positions then stay without an evaluation. */
function warn(error: unknown, signal: AbortSignal): void {
  if (!signal.aborted) console.warn("The engine:", error);
}
