/** Training: each repeated mistake is a question on the board, which is asked again after some days. */
import type { DatabaseClient } from "../database/client";
import {
  Game,
  moveNumber,
  path,
  positionKey,
  type Step,
  steps,
} from "../game/game";
import type { Exercise, Verdict } from "../learn/answer";
import { TrainingSession, type Words } from "../learn/training-session";
import { byId } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import type { RepeatedMistake } from "./repeated-mistakes";
import { lineTo, type Repertoire } from "./repertoire";
import { DAYS, isDue, scheduled } from "./schedule";
import type { QuestionId, TrainingStore } from "./training-store";

/** Maximum number of plies of a line that is shown. */
const SHOWN_PLIES = 8;

/** A question. Its positions are in a separate game. */
interface Question extends Exercise {
  id: QuestionId;
  /** Number of games with the bad move. */
  games: number;
}

const idOf = ({ key, move }: RepeatedMistake): QuestionId => ({
  position: key,
  uci: move.uci,
});

/** Returns the mistakes whose questions are due. */
export const dueMistakes = (
  mistakes: readonly RepeatedMistake[],
  store: TrainingStore,
  now: number,
): RepeatedMistake[] =>
  mistakes.filter((mistake) => isDue(store.get(idOf(mistake)), now));

/** Returns when the next question is due, in milliseconds since 1970. */
export const nextDue = (
  mistakes: readonly RepeatedMistake[],
  store: TrainingStore,
): number =>
  Math.min(...mistakes.map((mistake) => store.get(idOf(mistake))?.due ?? 0));

export class Trainer extends TrainingSession<Question> {
  /** The question whose first answer was recorded last. */
  #recorded: Question | undefined;

  /** `reset` shows the position of the state again. `changed` is called when the training begins or ends and after each change of a schedule. */
  constructor(
    state: State,
    client: Pick<DatabaseClient, "lookup">,
    private readonly store: TrainingStore,
    reset: () => void,
    private readonly changed: () => void,
  ) {
    super(
      state,
      client,
      {
        name: "training",
        asking: "asking",
        root: byId("training"),
        title: byId("training-title"),
        words: byId("training-words"),
        actions: byId("training-actions"),
      },
      reset,
    );
  }

  /** Whether questions are asked. */
  get isRunning(): boolean {
    return !this.view.root.hidden;
  }

  start(repertoire: Repertoire, mistakes: readonly RepeatedMistake[]): void {
    const { root } = this.view;
    this.begin(
      mistakes.flatMap((mistake) => question(repertoire, mistake) ?? []),
    );
    root.focus({ preventScroll: true });
    root.scrollIntoView({ block: "nearest" });
    this.changed();
  }

  override close(): void {
    if (!this.isRunning) return;
    const hadFocus = this.view.root.contains(document.activeElement);
    super.close();
    this.changed();
    if (hadFocus) byId("train").focus();
  }

  protected isOnBoard({ id }: Question): boolean {
    return positionKey(this.state.node) === id.position;
  }

  protected showPosition({ before }: Question): void {
    this.state.play(
      this.state.game.root,
      ...path(before).flatMap(({ move }) => move ?? []),
    );
  }

  protected task({ before, mistake, games }: Question): string {
    return `${moveNumber(before.position)} ${mistake.san} was played in ${plural(games, "game")}. Find a better move for ${before.position.turn === "white" ? "White" : "Black"}.`;
  }

  /** Adds the evaluations of the question to the state. */
  protected override async prepare(
    { before, mistake }: Question,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { fen } of [before, mistake]) {
      if (!this.state.databaseEvals.has(fen))
        this.state.addDatabaseEvals([
          [fen, (await this.client.lookup(fen, signal)).answer],
        ]);
    }
  }

  /** Stores the result of the first answer to a question. A question whose solution is shown counts as answered wrong. */
  protected override record(question: Question, isGood: boolean): void {
    if (this.#recorded === question) return;
    this.#recorded = question;
    void this.store.set(
      question.id,
      scheduled(this.store.get(question.id), isGood, Date.now()),
    );
    this.changed();
  }

  protected refusal(
    { mistake }: Question,
    { san }: Step,
    { score }: Verdict,
  ): string {
    return san === mistake.san
      ? `${san} is the move of the games.`
      : `${san} gives away too much (${score}).`;
  }

  protected praise(question: Question, { san }: Step): Words {
    const { number, san: best } = question.best;
    return [
      san === best
        ? `${san} is right. `
        : `${san} is good too. The best move is ${number} ${best}. `,
      ...this.solution(question),
    ];
  }

  protected solution(question: Question): Words {
    const days = DAYS[(this.store.get(question.id)?.box ?? 1) - 1] ?? DAYS[0];
    return [
      "The best line: ",
      this.best(question),
      ` The question is asked again in ${plural(days, "day")}.`,
    ];
  }

  /** Returns the first moves of a line: "6. Be3 e5 7. Nb3." */
  protected line(_start: Step["position"], line: readonly Step[]): string {
    return `${line
      .slice(0, SHOWN_PLIES)
      .map(({ number, san }, at) =>
        at === 0 || number.endsWith(".") ? `${number} ${san}` : san,
      )
      .join(" ")}.`;
  }
}

/** Returns the question of a mistake; `undefined` if its moves are illegal. */
function question(
  repertoire: Repertoire,
  mistake: RepeatedMistake,
): Question | undefined {
  const game = new Game();
  let before = game.root;
  for (const { move } of steps(
    before.position,
    lineTo(repertoire, mistake.key),
  ))
    before = game.play(before, move);
  const [[bad], [best]] = [
    steps(before.position, [mistake.move.uci]),
    steps(before.position, [mistake.best]),
  ];
  return bad && best
    ? {
        id: idOf(mistake),
        games: mistake.move.games.length,
        before,
        mistake: game.play(before, bad.move),
        best,
      }
    : undefined;
}
