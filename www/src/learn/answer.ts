/** The questions about the bad moves of a game. Checks answers: by the known best move and the known lines, otherwise by the database and the engine. */
import type { Color } from "chessops/types";
import type { Explanation } from "shelfish/analysis";
import {
  type ScoreLike,
  scoreText,
  winningChances,
} from "../../../crate/js/shared/score.ts";
import type { DatabaseClient } from "../database/client";
import { Game, type Node, type Step, steps, uci } from "../game/game";
import { Parts } from "../../../crate/js/shared/parts.ts";
import {
  bestScore,
  INACCURACY,
  isShallow,
  knownLine,
  scoreOfAnswer,
} from "../score/known-score";
import { load } from "../settings/settings";
import type { Assessment, State } from "../state/state";

/** Milliseconds of a search. */
const MOVETIME = 4_000;

/** A question about a bad move. */
export interface Question {
  /** The position before the bad move. */
  before: Node;
  /** The bad move, with the position after it. */
  mistake: Node;
  best: Step;
  /** "a blunder", "played in 3 games" */
  fault: string;
  /** Reason why the move is bad, if it is proven. */
  explanation: Explanation | null;
}

/** Returns the questions of a side in the order of the game. A judgment that may still change is no question. */
export function questionsOf(
  { moves }: Pick<Assessment, "moves">,
  side: Color,
): Question[] {
  return [...moves].flatMap(
    ([mistake, { judgment, settled, best: found, explanation }]) => {
      const before = mistake.parent;
      if (
        !before ||
        before.position.turn !== side ||
        !judgment ||
        !settled ||
        !found
      )
        return [];
      const [best] = steps(before.position, [found.uci]);
      return best
        ? [
            {
              mistake,
              before,
              fault: `${judgment === "inaccuracy" ? "an" : "a"} ${judgment}`,
              best,
              explanation,
            },
          ]
        : [];
    },
  );
}

export interface Verdict {
  isGood: boolean;
  /** Score after the move; `undefined` for the best move and the move of the game. */
  score?: string;
  /** The best line after the move. */
  line: readonly Step[];
}

/** Opens the engine when the first answer needs a search. */
export class Answers {
  readonly #parts = new Parts();

  constructor(
    private readonly state: State,
    private readonly client: Pick<DatabaseClient, "lookup">,
  ) {}

  /** Returns the verdict on a move; `undefined` if neither the database nor the engine can evaluate it. */
  async check(
    { before, mistake, best }: Question,
    step: Step,
    signal: AbortSignal,
  ): Promise<Verdict | undefined> {
    if (step.san === best.san || step.position.isCheckmate())
      return { isGood: true, line: [] };
    if (step.san === mistake.san)
      return { isGood: false, line: knownLine(mistake, this.state) };
    const known = bestScore(before, this.state);
    if (!known) return undefined;
    const found =
      this.#listed(before.fen, step) ??
      (step.position.hasDests()
        ? await this.#evaluate(step, signal)
        : { cp: 0, line: [] });
    if (!found) return undefined;
    const sign = before.position.turn === "white" ? 1 : -1;
    const loss = sign * (known.chances - winningChances(found));
    return {
      isGood: loss < INACCURACY,
      score: scoreText(found),
      line: steps(step.position, found.line),
    };
  }

  /** Closes the engine. */
  close(): void {
    this.#parts.close();
  }

  /** Returns the score of a move that is the first move of a line of the database. */
  #listed(
    fen: string,
    { move }: Step,
  ): (ScoreLike & { line: readonly string[] }) | undefined {
    const known = this.state.databaseEvals.get(fen);
    const pv = known?.pvs.find(({ uci: [first] }) => first === uci(move));
    return pv && { ...pv, line: pv.uci.slice(1) };
  }

  /** Evaluates the position after a move: by a deep evaluation of the database, else by the engine if it is enabled. */
  async #evaluate(
    { position }: Step,
    signal: AbortSignal,
  ): Promise<(ScoreLike & { line: readonly string[] }) | undefined> {
    const { fen } = new Game(position).root;
    try {
      const known = await this.client.lookup(fen, signal).then(
        ({ answer }) => scoreOfAnswer(answer),
        () => undefined,
      );
      if (known && !isShallow(known)) return known;
      const { engine, nodes } = load();
      if (!engine) return undefined;
      const {
        pvs: [pv],
      } = await (
        await this.#parts.get("engine", async () =>
          (await import("shelfish/engine")).openEngine(),
        )
      ).analyse(fen, {
        nodes,
        movetime: MOVETIME,
        signal,
        castling: "chess960",
      });
      return { ...pv, line: pv.uci };
    } catch (error) {
      signal.throwIfAborted();
      // The question remains open without a verdict.
      console.warn("The check of the answer:", error);
      return undefined;
    }
  }
}
