/** Training: each repeated mistake is a question on the board, which is asked again after some days. */
import type { NormalMove } from "chessops/types";
import type { DatabaseClient } from "../database/client";
import { explain } from "../database/client";
import { Game, moveNumber, type Node, path, positionKey, type Step, steps, uci } from "../game/game";
import type { Answers } from "../learn/answer";
import { bestScore } from "../score/known-score";
import { byId, make } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import type { RepeatedMistake } from "./repeated-mistakes";
import { lineTo, type Repertoire } from "./repertoire";
import { DAYS, isDue, scheduled } from "./schedule";
import type { QuestionId, TrainingStore } from "./training-store";

/** Maximum number of plies of a line that is shown. */
const SHOWN_PLIES = 8;

interface Question {
  id: QuestionId;
  mistake: RepeatedMistake;
  /** The positions before and after the bad move, in a separate game. */
  before: Node;
  after: Node;
  best: Step;
}

type Action = readonly [id: string, label: string, does: () => void];

const idOf = ({ key, move }: RepeatedMistake): QuestionId => ({ position: key, uci: move.uci });

/** Returns the mistakes whose questions are due. */
export const dueMistakes = (mistakes: readonly RepeatedMistake[], store: TrainingStore, now: number): RepeatedMistake[] => mistakes.filter((mistake) => isDue(store.get(idOf(mistake)), now));

/** Returns when the next question is due, in milliseconds since 1970. */
export const nextDue = (mistakes: readonly RepeatedMistake[], store: TrainingStore): number => Math.min(...mistakes.map((mistake) => store.get(idOf(mistake))?.due ?? 0));

export class Trainer {
  #questions: readonly Question[] = [];
  #at = 0;
  /** Whether the question is neither answered nor shown with its answer. */
  #isOpen = false;
  /** Whether the next answer is the first answer to the question. */
  #isFirst = true;
  #solved = 0;
  #abort = new AbortController();

  /** `reset` shows the position of the state again. `changed` is called when the training begins or ends and after each change of a schedule. */
  constructor(
    private readonly state: State,
    private readonly client: Pick<DatabaseClient, "lookup">,
    private readonly answers: Answers,
    private readonly store: TrainingStore,
    private readonly reset: () => void,
    private readonly changed: () => void,
  ) {
    state.on(({ node }) => {
      if (node && this.#isOpen) this.#ask();
    });
  }

  /** Whether questions are asked. */
  get isRunning(): boolean {
    return !byId("training").hidden;
  }

  /** Whether the board asks a question: the page hides the answer then. */
  get isAsking(): boolean {
    return this.#isOpen && this.#question !== undefined && positionKey(this.state.node) === this.#question.id.position;
  }

  start(repertoire: Repertoire, mistakes: readonly RepeatedMistake[]): void {
    this.#questions = mistakes.flatMap((mistake) => question(repertoire, mistake) ?? []);
    this.#solved = 0;
    byId("training").hidden = false;
    this.#open(0);
    byId("training").focus({ preventScroll: true });
    byId("training").scrollIntoView({ block: "nearest" });
    this.changed();
  }

  close(): void {
    if (!this.isRunning) return;
    const hadFocus = byId("training").contains(document.activeElement);
    this.#abort.abort();
    this.#isOpen = false;
    this.#questions = [];
    byId("training").hidden = true;
    this.answers.close();
    this.#hide();
    this.changed();
    if (hadFocus) byId("train").focus();
  }

  /** Takes a move on the board as an answer. Returns whether a question was asked. */
  take(move: NormalMove): boolean {
    const question = this.#question;
    if (!question || !this.isAsking) return false;
    const [step] = steps(question.before.position, [uci(move)]);
    if (step) void this.#check(question, step);
    return true;
  }

  get #question(): Question | undefined {
    return this.#questions[this.#at];
  }

  #open(at: number): void {
    this.#abort.abort();
    this.#at = at;
    this.#isFirst = true;
    const question = this.#question;
    this.#isOpen = question !== undefined;
    if (!question) return this.#end();
    // The position may be on the board already.
    if (positionKey(this.state.node) === question.id.position) this.#ask();
    else this.#show(question);
  }

  #show({ before }: Question): void {
    this.state.play(this.state.game.root, ...path(before).flatMap(({ move }) => move ?? []));
  }

  /** Shows the question, or how to return to it if another position is on the board. */
  #ask(): void {
    const question = this.#question;
    if (!question) return;
    this.#abort.abort();
    this.#hide();
    const { before, after, mistake } = question;
    byId("training-title").textContent = `Question ${this.#at + 1} of ${this.#questions.length}`;
    if (!this.isAsking) {
      this.#say("The board shows another position.");
      return this.#offer([["training-back", "Back to the question", () => this.#show(question)], ...this.#leave()]);
    }
    this.#say(`${moveNumber(before.position)} ${after.san} was played in ${plural(mistake.move.games.length, "game")}. Find a better move for ${before.position.turn === "white" ? "White" : "Black"}.`);
    this.#offerHelp(question);
  }

  async #check(question: Question, step: Step): Promise<void> {
    this.#abort.abort();
    const { signal } = (this.#abort = new AbortController());
    this.#say(`Checking ${step.san}…`);
    const { before, after, best } = question;
    try {
      await this.#load(question, signal);
      const verdict = await this.answers.check({ before, mistake: after, best }, step, signal);
      if (signal.aborted) return;
      this.reset();
      if (!verdict) {
        this.#say(`${step.san} cannot be checked: the database does not have it, and there is no engine.`);
        return this.#offerHelp(question);
      }
      const days = this.#record(question, verdict.isGood);
      if (verdict.isGood) return this.#solve(question, step, days);
      const same = step.san === after.san ? `${step.san} is the move of the games.` : `${step.san} gives away too much (${verdict.score}).`;
      this.#say(`${same} Try again.${verdict.line.length > 0 ? ` The answer to it is ${text(verdict.line)}.` : ""}`);
      this.#offerHelp(question);
    } catch (error) {
      if (signal.aborted) return;
      const { title, advice } = explain(error);
      this.reset();
      this.#say(`${title} ${advice}`);
      this.#offerHelp(question);
    }
  }

  /** Adds the evaluations of the question to the state, from which the answers are checked. */
  async #load({ before, after }: Question, signal: AbortSignal): Promise<void> {
    for (const { fen } of [before, after]) {
      if (!this.state.databaseEvals.has(fen)) this.state.addDatabaseEvals([[fen, (await this.client.lookup(fen, signal)).answer]]);
    }
  }

  /** Stores the result of the first answer to a question. Returns the days until the question is asked again. */
  #record({ id }: Question, isRight: boolean): number {
    if (this.#isFirst) {
      this.#isFirst = false;
      void this.store.set(id, scheduled(this.store.get(id), isRight, Date.now()));
      this.changed();
    }
    return DAYS[(this.store.get(id)?.box ?? 1) - 1] ?? DAYS[0];
  }

  #solve({ best }: Question, step: Step, days: number): void {
    this.#solved++;
    this.#isOpen = false;
    this.#hide();
    const also = step.san === best.san ? `${step.san} is right.` : `${step.san} is good too. The best move is ${best.number} ${best.san}.`;
    this.#say(`${also} ${this.#best()} ${again(days)}`);
    this.#offerNext();
  }

  /** Shows the best line. The question counts as answered wrong. */
  async #reveal(question: Question): Promise<void> {
    this.#abort.abort();
    const { signal } = (this.#abort = new AbortController());
    // If the lookup fails, only the best move is shown.
    await this.#load(question, signal).catch(() => {});
    if (signal.aborted) return;
    const days = this.#record(question, false);
    this.#isOpen = false;
    this.reset();
    this.#hide();
    this.#say(`${this.#best()} ${again(days)}`);
    this.#offerNext();
  }

  #end(): void {
    this.#hide();
    byId("training-title").textContent = "All questions are done";
    this.#say(`You found ${this.#solved} of ${plural(this.#questions.length, "better move")}.`);
    this.#offer(this.#leave());
  }

  #best(): string {
    const { before, best } = this.#question ?? {};
    if (!before || !best) return "";
    const known = steps(before.position, bestScore(before, this.state)?.line ?? []);
    return `The best line: ${text(known[0]?.san === best.san ? known : [best])}.`;
  }

  #offerHelp(question: Question): void {
    this.#offer([["training-show", "Show the answer", () => void this.#reveal(question)], ["training-next", "Skip", () => this.#open(this.#at + 1)], ...this.#leave()]);
  }

  #offerNext(): void {
    const isLast = this.#at + 1 === this.#questions.length;
    this.#offer([["training-next", isLast ? "Finish" : "Next question", () => this.#open(this.#at + 1)], ...this.#leave()]);
  }

  #leave(): Action[] {
    return [["training-close", "Close", () => this.close()]];
  }

  #say(words: string): void {
    byId("training-words").textContent = words.trim();
  }

  /** Replaces the buttons. If a button had the focus, the first new button gets the focus. */
  #offer(actions: readonly Action[]): void {
    const root = byId("training-actions");
    const hadFocus = root.contains(document.activeElement);
    const buttons = actions.map(([id, label, does]) => {
      const button = make("button", { type: "button", "data-testid": id }, label);
      button.addEventListener("click", does);
      return button;
    });
    root.replaceChildren(...buttons);
    if (hadFocus) buttons[0]?.focus({ preventScroll: true });
  }

  /** Hides moves and lists while a question is asked. */
  #hide(): void {
    document.body.classList.toggle("asking", this.isAsking);
  }
}

/** Returns the question of a mistake; `undefined` if its moves are illegal. */
function question(repertoire: Repertoire, mistake: RepeatedMistake): Question | undefined {
  const game = new Game();
  let before = game.root;
  for (const { move } of steps(before.position, lineTo(repertoire, mistake.key))) before = game.play(before, move);
  const [[bad], [best]] = [steps(before.position, [mistake.move.uci]), steps(before.position, [mistake.best])];
  return bad && best ? { id: idOf(mistake), mistake, before, after: game.play(before, bad.move), best } : undefined;
}

/** Returns the first moves of a line: "6. Be3 e5 7. Nb3". */
const text = (line: readonly Step[]): string => line.slice(0, SHOWN_PLIES).map(({ number, san }, at) => (at === 0 || number.endsWith(".") ? `${number} ${san}` : san)).join(" ");

const again = (days: number): string => `The question is asked again in ${plural(days, "day")}.`;
