/** The questions about the bad moves of a game. Checks answers: by the known best move and the known lines, otherwise as the report judges moves. */
import type { Color } from "chessops/types";
import type { Explanation, GameEngine } from "shelfish/analysis";
import {
  type ScoreLike,
  scoreText,
  winningChances,
} from "../../../crate/js/shared/score.ts";
import type { DatabaseClient } from "../database/client";
import {
  Game,
  type Node,
  positionKey,
  type Step,
  steps,
  uci,
} from "../game/game";
import { Parts } from "../../../crate/js/shared/parts.ts";
import { analysis } from "../loading/loading";
import { INACCURACY, knownLine } from "../score/known-score";
import { load } from "../settings/settings";
import type { Assessment, State } from "../state/state";

/** Winning chances of a won position. A move that keeps them is right, although the win may take longer. */
const WON = 0.75;

/** An engine that judges answers, and its nodes for each position of a doubtful move. */
export interface Judge {
  engine: (() => Promise<GameEngine>) | null;
  nodes: number;
}

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

/** Returns the questions of a side in the order of the game: its mistakes and blunders, or its inaccuracies. A judgment that may still change is no question. */
export function questionsOf(
  { moves }: Pick<Assessment, "moves">,
  side: Color,
  areMinor = false,
): Question[] {
  return [...moves].flatMap(
    ([mistake, { judgment, settled, best: found, explanation }]) => {
      const before = mistake.parent;
      if (
        !before ||
        before.position.turn !== side ||
        !judgment ||
        (judgment === "inaccuracy") !== areMinor ||
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
  /** Score of the best move, if both moves win. */
  better?: string | undefined;
  /** The best line after the move. */
  line: readonly Step[];
}

type Scored = ScoreLike & { uci: readonly string[] };

/** Judges answers. Opens its own engine when the first answer needs a search, if the page has no other judge. */
export class Answers {
  readonly #parts = new Parts();

  constructor(
    private readonly state: State,
    private readonly client: Pick<DatabaseClient, "lookupMany">,
    private readonly judge = (): Judge => {
      const { engine, nodes } = load();
      const open = async () => (await import("shelfish/engine")).openEngine();
      return {
        engine: engine ? () => this.#parts.get("engine", open) : null,
        nodes,
      };
    },
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
    return (
      this.#listed(before, step) ?? (await this.#judged(before, step, signal))
    );
  }

  /** Closes the engine. */
  close(): void {
    this.#parts.close();
  }

  /** Judges a move that is the first move of a line of the database. */
  #listed({ fen, position }: Node, step: Step): Verdict | undefined {
    const pvs = this.state.databaseEvals.get(fen)?.pvs;
    const pv = pvs?.find(({ uci: [first] }) => first === uci(step.move));
    if (!pvs || !pv) return undefined;
    const sign = position.turn === "white" ? 1 : -1;
    const loss = sign * (winningChances(pvs[0]) - winningChances(pv));
    const after = { ...pv, uci: pv.uci.slice(1) };
    return verdict(step, loss < INACCURACY, pvs[0], after);
  }

  /** Judges a move as the report judges it: in a game of this move. */
  async #judged(
    { position }: Node,
    step: Step,
    signal: AbortSignal,
  ): Promise<Verdict | undefined> {
    const game = new Game(position);
    const line = [game.root, game.play(game.root, step.move)];
    const abort = new AbortController();
    const fens = line.map(({ fen }) => fen);
    let found: Verdict | undefined;
    const lookupMany = async () => {
      const { answers } = await this.client.lookupMany(fens, signal);
      const known = new Map(answers);
      return fens.map((fen) => known.get(fen) ?? null);
    };
    try {
      await (
        await analysis()
      ).analyseGame(
        {
          fen: fens[0],
          moves: [uci(step.move)],
          positions: line.map(positionKey),
          evaluations: [],
        },
        {
          ...this.judge(),
          database: { lookupMany },
          signal: AbortSignal.any([signal, abort.signal]),
          onProgress: ({ report, evaluations }) => {
            const [move] = report().moves;
            if (!move?.settled) return;
            const [before, after] = evaluations();
            const draw = { cp: 0, uci: [] };
            const best = before?.pvs[0] ?? draw;
            found = verdict(step, !move.judgment, best, after?.pvs[0] ?? draw);
            // The search for marks is not needed.
            abort.abort();
          },
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      // The question remains open without a verdict.
      if (!found) console.warn("The check of the answer:", error);
    }
    return found;
  }
}

/** Returns the verdict on a move by its score and the score of the best move. */
function verdict(
  { position }: Step,
  isGood: boolean,
  best: ScoreLike,
  after: Scored,
): Verdict {
  const isWon = [best, after].every(
    (score) =>
      winningChances(score) * (position.turn === "black" ? 1 : -1) >= WON,
  );
  return {
    isGood: isGood || isWon,
    score: scoreText(after),
    better: isWon ? scoreText(best) : undefined,
    line: steps(position, after.uci),
  };
}
