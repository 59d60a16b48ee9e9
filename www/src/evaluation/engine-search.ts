/** Asks the engine where the database has nothing: the position on the board, and the gaps of the game. */
import type { Engine, EngineEvaluation } from "shelfish/engine";
import type { Node } from "../game/game";
import { bestKnown } from "../score/known-score";
import { later } from "../loading/throttle";
import type { State } from "../state/state";

/** How long the board must be at rest, in milliseconds. */
const REST = 80;
/** How deep the position on the board is searched, and for how long at most. */
const DEEP = { depth: 24, movetime: 20_000, multiPv: 2 };
/** How deep each gap of a game is searched. */
const GAP = { depth: 12 };
/** Iterations that come faster than this are not drawn one by one. */
const PACE = 100;

/** Keeps the engine at what nobody else knows. Its module is loaded when there is something to do. */
export class Gaps {
  #engine: Promise<Engine> | undefined;
  #looking = new AbortController();
  /** The position that is looked at, or was. */
  #looked: string | undefined;
  #sweep: AbortController | undefined;
  /** The gaps of the game that were begun: what failed or was stopped is not begun again before there is another game. */
  readonly #tried = new Set<string>();
  #timer = 0;

  constructor(
    private readonly state: State,
    private isOn: boolean,
  ) {
    state.on(({ game, node, known, status, tree }) => {
      if (game) this.#halt();
      if (node) this.#leave();
      const isAnswered = known && [...known].some((fen) => state.answers.has(fen));
      if (node || tree || isAnswered || (status && state.status.fault)) this.#rest();
    });
  }

  /** Turns the engine on or off. What it found stays. */
  turn(isOn: boolean): void {
    this.isOn = isOn;
    if (isOn) return this.#rest();
    this.#leave();
    this.#halt();
    window.clearTimeout(this.#timer);
    void this.#engine?.then((engine) => engine.close(), () => {});
    this.#engine = undefined;
  }

  #leave(): void {
    this.#looking.abort();
    this.#looked = undefined;
  }

  /** Ends the search of gaps, and forgets it. */
  #halt(): void {
    this.#sweep?.abort();
    this.#sweep = undefined;
    this.#tried.clear();
    if (this.state.filling) this.state.fill(undefined);
  }

  #rest(): void {
    window.clearTimeout(this.#timer);
    if (!this.isOn) return;
    // What takes a round trip or two is begun at once; if it fails, the search will say so.
    if (this.#isGap(this.state.node)) this.#load().catch(() => {});
    this.#timer = window.setTimeout(() => this.#begin(), REST);
  }

  #begin(): void {
    const { node } = this.state;
    // A line of the database that leads here is searched deeper than the engine will.
    const isLed = bestKnown(node, this.state)?.source === "line";
    if (this.#isGap(node) && !isLed && this.#looked !== node.fen) void this.#look(node);
    if (!this.#sweep) void this.#fill();
  }

  /** Whether nothing but the engine can say something of a position. */
  #isGap({ fen, position, notes }: Node): boolean {
    const { answers, status } = this.state;
    const isMissing = answers.get(fen) === null || (answers.get(fen) === undefined && status.fault !== undefined);
    return isMissing && !notes.given && position.hasDests();
  }

  /** Searches the position on the board, until another one is there. */
  async #look(node: Node): Promise<void> {
    const { fen } = node;
    this.#looked = fen;
    if ((this.state.found.get(fen)?.depth ?? 0) >= DEEP.depth) return;
    const { signal } = (this.#looking = new AbortController());
    const tell = later(PACE, (found: EngineEvaluation) => {
      // What was found before stands until this search is deeper.
      if (!signal.aborted && found.depth >= (this.state.found.get(fen)?.depth ?? 0)) this.state.find(fen, found);
    });
    try {
      const engine = await this.#load();
      tell(await engine.analyse(fen, { ...DEEP, signal, castling: "chess960", onInfo: tell }), true);
    } catch (error) {
      this.#failed(error, signal);
    }
  }

  /** Searches the gaps of the game, some side by side. */
  async #fill(): Promise<void> {
    const { state } = this;
    const isOpen = (node: Node) => this.#isGap(node) && !state.found.has(node.fen) && !this.#tried.has(node.fen);
    const fens = [...new Set(state.game.mainline().filter(isOpen).map(({ fen }) => fen))];
    // The position on the board is looked at anyway.
    if (fens.length === 0 || (fens.length === 1 && fens[0] === state.node.fen)) return;
    const abort = (this.#sweep = new AbortController());
    fens.forEach((fen) => this.#tried.add(fen));
    let done = 0;
    const stop = () => abort.abort();
    state.fill({ done, of: fens.length, stop });
    try {
      const engine = await this.#load();
      await engine.analyseMany(fens, {
        ...GAP,
        ...{ signal: abort.signal, castling: "chess960" },
        onAnswer: (index, answer) => {
          const fen = fens[index];
          done++;
          if (abort.signal.aborted || fen === undefined) return;
          if ("pvs" in answer && answer.depth > (state.found.get(fen)?.depth ?? 0)) state.find(fen, answer);
          state.fill({ done, of: fens.length, stop });
        },
      });
    } catch (error) {
      this.#failed(error, abort.signal);
    }
    // Another game, or another sweep, has taken its place.
    if (this.#sweep !== abort) return;
    this.#sweep = undefined;
    state.fill(undefined);
    this.#rest();
  }

  #load(): Promise<Engine> {
    // A core is left to the page.
    const workers = Math.max(1, Math.min(2, (navigator.hardwareConcurrency || 2) - 1));
    this.#engine ??= import("shelfish/engine").then(({ load }) => load({ workers }));
    // A failure is not kept: the connection may come back.
    this.#engine.catch(() => (this.#engine = undefined));
    return this.#engine;
  }

  /** An engine that cannot be had leaves a gap, which is what it was. */
  #failed(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) console.warn("The engine:", error);
  }
}
