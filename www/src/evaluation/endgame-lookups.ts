/** Looks positions with few pieces up in endgame tables. */
import {
  countPieces,
  type Ending,
  MAX_TABLE_PIECES,
} from "../../../crate/js/shared/score.ts";
import type { EndgameResult, Endgames } from "shelfish/endgames";
import { answered, OPEN_OPTIONS } from "../database/client";
import type { Node } from "../game/game";
import { Latest, loadOnce } from "../loading/loading";
import type { State } from "../state/state";

/** Milliseconds without a change of the board before a lookup begins. */
const DELAY = 80;

/** Adds the results of endgame tables to the state. The module is loaded for the first position with few pieces. */
export class EndgameLookups {
  readonly #open: () => Promise<Endgames>;
  /** Maximum number of pieces, exact after the tables were opened. */
  #maxPieces: number;
  readonly #abort = new Latest();
  #timer = 0;

  constructor(
    private readonly state: State,
    url: URL,
    maxPieces = MAX_TABLE_PIECES,
  ) {
    this.#maxPieces = maxPieces;
    this.#open = loadOnce(async () => {
      const { openEndgames } = await import("shelfish/endgames");
      const endgames = await openEndgames(url, OPEN_OPTIONS);
      this.#maxPieces = endgames.maxPieces;
      return endgames;
    });
    state.join(({ node }) => node && this.#schedule());
  }

  /**
   * Returns the results of positions, in the same order; `undefined` if the tables do not contain a position or fail. Positions that were
   * looked up before need no request.
   */
  async results(
    line: readonly Node[],
    signal: AbortSignal,
  ): Promise<(Ending | undefined)[]> {
    const open = line.filter((node) => this.#isOpen(node));
    if (open.length > 0) {
      try {
        this.state.addEndgameEvals(await this.#probe(open, signal));
      } catch (error) {
        // The page works without tables: the database and the engine evaluate the position.
        if (!signal.aborted) console.warn("The endgame tables:", error);
      }
    }
    return line.map(({ fen }) => this.state.endgameEvals.get(fen));
  }

  /** Returns the results of the positions that the tables contain. Rejects if the tables fail. */
  async #probe(
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<(readonly [fen: string, result: EndgameResult])[]> {
    const endgames = await this.#open();
    signal.throwIfAborted();
    const fens = nodes
      .filter((node) => this.#isOpen(node))
      .map(({ fen }) => fen);
    const answers = await endgames.probeMany(fens, {
      signal,
      castling: "chess960",
    });
    const failed = answers.find(
      (answer) =>
        answer instanceof Error &&
        !["castling", "pieces", "table"].includes(answer.code),
    );
    if (failed) throw failed;
    return answered(fens, answers);
  }

  /** Whether the tables may contain a position that was not looked up. */
  #isOpen({ fen, position }: Node): boolean {
    return (
      countPieces(fen) <= this.#maxPieces &&
      position.hasDests() &&
      !this.state.endgameEvals.has(fen)
    );
  }

  #schedule(): void {
    window.clearTimeout(this.#timer);
    this.#abort.abort();
    const { node } = this.state;
    if (!this.#isOpen(node)) return;
    const signal = this.#abort.begin();
    this.#timer = window.setTimeout(
      () => void this.results([node], signal),
      DELAY,
    );
  }
}
