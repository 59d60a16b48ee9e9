/** Shows the threat of the side that is not to move: its best move if the other side passed. Loaded when it is first requested. */
import type { Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { scoreText } from "shelfish/score";
import { type Node, type Step, steps } from "../game/game";
import { passed } from "../game/legal-moves";
import { Reopenable } from "../loading/load-once";
import type { State } from "../state/state";

/** Limits of the search. */
const LIMITS = { depth: 16, movetime: 2_000 };

export interface ThreatView {
  /** Draws the move, or removes its arrow. */
  draw(step: Step | undefined, before: Position | undefined): void;
  /** Shows a message. */
  say(words: string): void;
}

/** Returns the position after a pass; `undefined` if the side to move is in check, or if the other side has no move. */
function afterPass({ position }: Pick<Node, "position">): Position | undefined {
  const after = position.isCheck() ? undefined : passed(position);
  return after?.hasDests() ? after : undefined;
}

export class Threat {
  #isOn = false;
  readonly #evaluator = new Reopenable(async () =>
    (await import("shelfish/evaluator")).openEvaluator({
      engine: async () => (await import("shelfish/engine")).openEngine(),
    }),
  );
  #search = new AbortController();

  constructor(
    private readonly state: State,
    private readonly view: ThreatView,
  ) {
    state.on(({ node }) => node && this.#isOn && void this.#show());
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Shows the threats of all positions on the board, until the next call. */
  toggle(): void {
    this.#isOn = !this.#isOn;
    if (this.#isOn) return void this.#show();
    this.#search.abort();
    this.view.draw(undefined, undefined);
    this.view.say("");
    this.#evaluator.close();
  }

  async #show(): Promise<void> {
    this.#search.abort();
    const { signal } = (this.#search = new AbortController());
    this.view.draw(undefined, undefined);
    const { node } = this.state;
    const passed = afterPass(node);
    if (!passed)
      return this.view.say(
        node.position.isCheck()
          ? "The check is the threat."
          : "There is no threat: a pass is not possible.",
      );
    this.view.say("Threat: searching…");
    try {
      const found = await (
        await this.#evaluator.open()
      ).evaluate(makeFen(passed.toSetup()), {
        ...LIMITS,
        signal,
        castling: "chess960",
      });
      const [step] = steps(passed, found?.pvs[0].uci ?? []);
      if (signal.aborted || !found || !step) return;
      this.view.draw(step, passed);
      this.view.say(`Threat: ${step.san} (${scoreText(found.pvs[0])}).`);
    } catch (error) {
      if (signal.aborted) return;
      console.warn("The threat:", error);
      this.view.say("The threat cannot be searched now.");
    }
  }
}
