/** Checks answers: by the known best move and the known lines, otherwise by the database and the engine. */
import type { Evaluated, Evaluator } from "shelfish/evaluator";
import { isShallow, type ScoreLike, scoreText, winningChances } from "shelfish/score";
import type { DatabaseClient } from "../database/client";
import { Game, type Node, type Step, steps, uci } from "../game/game";
import { Reopenable } from "../loading/load-once";
import { bestScore, knownLine } from "../score/known-score";
import { INACCURACY } from "../score/score";
import { load } from "../settings/settings";
import type { State } from "../state/state";

/** Milliseconds of a search. */
const MOVETIME = 4_000;

/** A question about a bad move. */
export interface Exercise {
  /** The position before the bad move. */
  before: Node;
  /** The bad move, with the position after it. */
  mistake: Node;
  best: Step;
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
  readonly #evaluator = new Reopenable(() => this.#openEvaluator());

  constructor(
    private readonly state: State,
    private readonly client: Pick<DatabaseClient, "lookup">,
  ) {}

  /** Returns the verdict on a move; `undefined` if neither the database nor the engine can evaluate it. */
  async check({ before, mistake, best }: Exercise, step: Step, signal: AbortSignal): Promise<Verdict | undefined> {
    if (step.san === best.san || step.position.isCheckmate()) return { isGood: true, line: [] };
    if (step.san === mistake.san) return { isGood: false, line: knownLine(mistake, this.state) };
    const known = bestScore(before, this.state);
    if (!known) return undefined;
    const found = this.#listed(before.fen, step) ?? (step.position.hasDests() ? await this.#evaluate(step, signal) : { cp: 0, line: [] });
    if (!found) return undefined;
    const sign = before.position.turn === "white" ? 1 : -1;
    const loss = sign * (known.chances - winningChances(found));
    return { isGood: loss < INACCURACY, score: scoreText(found), line: steps(step.position, found.line) };
  }

  /** Closes the engine. */
  close(): void {
    this.#evaluator.close();
  }

  /** Returns the score of a move that is the first move of a line of the database. */
  #listed(fen: string, { move }: Step): (ScoreLike & { line: readonly string[] }) | undefined {
    const { best } = this.state.databaseEvals.get(fen) ?? {};
    const pv = best?.pvs.find(({ uci: [first] }) => first === uci(move));
    return pv && { ...pv, line: pv.uci.slice(1) };
  }

  async #evaluate({ position }: Step, signal: AbortSignal): Promise<(ScoreLike & { line: readonly string[] }) | undefined> {
    const { fen } = new Game(position).root;
    try {
      const limits = { nodes: load().nodes, movetime: MOVETIME };
      const found: Evaluated | null = await (await this.#evaluator.open()).evaluate(fen, { ...limits, signal, castling: "chess960" });
      if (!found) return undefined;
      const { from, depth, knodes, pvs: [pv] } = found;
      // Without an engine, a shallow evaluation of the database is only a hint.
      return from === "database" && isShallow({ depth, knodes, mate: pv.mate }) ? undefined : { ...pv, line: pv.uci };
    } catch (error) {
      signal.throwIfAborted();
      // The question remains open without a verdict.
      console.warn("The check of the answer:", error);
      return undefined;
    }
  }

  async #openEvaluator(): Promise<Evaluator> {
    const database = { lookup: async (fen: string, { signal = new AbortController().signal }: { signal?: AbortSignal } = {}) => (await this.client.lookup(fen, signal)).answer };
    const { openEvaluator } = await import("shelfish/evaluator");
    return openEvaluator({ database, engine: load().engine ? async () => (await import("shelfish/engine")).openEngine() : null });
  }
}
