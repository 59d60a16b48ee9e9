/** A session of questions on the board: a bad move is shown, and a better move is the answer. */
import type { NormalMove } from "chessops/types";
import { type DatabaseClient, explain } from "../database/client";
import { type Step, steps, uci } from "../game/game";
import { bestLine } from "../score/known-score";
import { makeButton } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import { Answers, type Exercise, type Verdict } from "./answer";

/** The elements of a session. */
export interface SessionView {
  /** First word of the test ids of buttons. */
  name: string;
  /** Class of the page while a question is asked. The page hides the answer then. */
  asking: string;
  root: HTMLElement;
  title: HTMLElement;
  words: HTMLElement;
  actions: HTMLElement;
}

/** A button. */
export type Action = readonly [id: string, label: string, does: () => void];

export type Words = (string | HTMLElement)[];

export abstract class TrainingSession<Question extends Exercise> {
  readonly #answers: Answers;
  #questions: readonly Question[] = [];
  #at = 0;
  /** Whether the question is neither answered nor shown with its answer. */
  #isOpen = false;
  #solved = 0;
  #abort = new AbortController();

  /** `reset` shows the position of the state on the board again. */
  constructor(
    protected readonly state: State,
    protected readonly client: Pick<DatabaseClient, "lookup">,
    protected readonly view: SessionView,
    private readonly reset: () => void,
  ) {
    this.#answers = new Answers(state, client);
    state.on(({ node }) => node && this.#isOpen && this.#ask());
  }

  /** Whether the position of the question is on the board. */
  protected abstract isOnBoard(question: Question): boolean;
  protected abstract showPosition(question: Question): void;
  /** Returns the question in words. */
  protected abstract task(question: Question): string;
  /** Returns a line as words. `lead` are the moves that lead from the position of the question to `start`. */
  protected abstract line(
    start: Step["position"],
    line: readonly Step[],
    lead: readonly Step[],
  ): string | HTMLElement;
  /** Says why an answer is bad. */
  protected abstract refusal(
    question: Question,
    step: Step,
    verdict: Verdict,
  ): string;
  /** Praises a good answer and returns the best line. */
  protected abstract praise(
    question: Question,
    step: Step,
    verdict: Verdict,
  ): Words;
  /** Returns the best line for a question without an answer. */
  protected abstract solution(question: Question): Words;

  /** Loads the evaluations from which answers are checked. */
  protected async prepare(
    _question: Question,
    _signal: AbortSignal,
  ): Promise<void> {}
  /** Records a checked answer, or that the solution is shown. */
  protected record(_question: Question, _isGood: boolean): void {}
  protected hints(_question: Question): Action[] {
    return [];
  }
  /** Returns buttons for the end of the session. */
  protected further(): Action[] {
    return [];
  }

  /** Whether the board asks a question: the page hides evaluations and lines then. */
  get isAsking(): boolean {
    const { question } = this;
    return this.#isOpen && question !== undefined && this.isOnBoard(question);
  }

  /** Takes a move on the board as an answer. Returns whether a question was asked. */
  take(move: NormalMove): boolean {
    const { question } = this;
    if (!question || !this.isAsking) return false;
    const [step] = steps(question.before.position, [uci(move)]);
    if (step) void this.#check(question, step);
    return true;
  }

  close(): void {
    this.settle();
    this.#questions = [];
    this.view.root.hidden = true;
    this.#answers.close();
  }

  protected get questions(): readonly Question[] {
    return this.#questions;
  }

  protected get question(): Question | undefined {
    return this.#questions[this.#at];
  }

  protected begin(questions: readonly Question[]): void {
    this.#questions = questions;
    this.#solved = 0;
    this.view.root.hidden = false;
    this.#open(0);
  }

  #open(at: number): void {
    this.#abort.abort();
    this.#at = at;
    const { question } = this;
    this.#isOpen = question !== undefined;
    if (!question) this.#end();
    else if (this.isOnBoard(question)) this.#ask();
    else this.showPosition(question);
  }

  /** Shows the question, or how to return to it if another position is on the board. */
  #ask(): void {
    const { question } = this;
    if (!question) return;
    this.#abort.abort();
    this.#hide();
    this.view.title.textContent = `Question ${this.#at + 1} of ${this.#questions.length}`;
    if (!this.isAsking) {
      this.say("The board shows another position.");
      return this.#offer([
        "back",
        "Back to the question",
        () => this.showPosition(question),
      ]);
    }
    this.reset();
    this.say(this.task(question));
    this.offerHelp(question);
  }

  async #check(question: Question, step: Step): Promise<void> {
    const signal = this.#restart();
    this.say(`Checking ${step.san}…`);
    try {
      await this.prepare(question, signal);
      const verdict = await this.#answers.check(question, step, signal);
      if (signal.aborted) return;
      this.reset();
      if (verdict) this.record(question, verdict.isGood);
      if (verdict?.isGood) {
        this.#solved++;
        return this.#finish(this.praise(question, step, verdict));
      }
      if (!verdict)
        this.say(
          `${step.san} cannot be checked: the database does not have it, and there is no engine.`,
        );
      else
        this.say(
          `${this.refusal(question, step, verdict)} Try again.`,
          ...(verdict.line.length > 0
            ? [
                " The answer to it is ",
                this.line(step.position, verdict.line, [step]),
              ]
            : []),
        );
    } catch (error) {
      if (signal.aborted) return;
      const { title, advice } = explain(error);
      this.reset();
      this.say(`${title} ${advice}`);
    }
    this.offerHelp(question);
  }

  /** Shows the solution. */
  async #reveal(question: Question): Promise<void> {
    const signal = this.#restart();
    // If the lookup fails, only the best move is shown.
    await this.prepare(question, signal).catch(() => {});
    if (signal.aborted) return;
    this.record(question, false);
    this.reset();
    this.#finish(this.solution(question));
  }

  #finish(words: Words): void {
    this.settle();
    this.say(...words);
    const isLast = this.#at + 1 === this.#questions.length;
    this.#offer([
      "next",
      isLast ? "Finish" : "Next question",
      () => this.#open(this.#at + 1),
    ]);
  }

  #end(): void {
    this.#hide();
    this.view.title.textContent = "All questions are done";
    this.say(
      `You found ${this.#solved} of ${plural(this.#questions.length, "better move")}.`,
    );
    this.#offer(...this.further());
  }

  /** Ends the question, so that the page shows evaluations and lines again. */
  protected settle(): void {
    this.#abort.abort();
    this.#isOpen = false;
    this.#hide();
  }

  /** Returns the best line of a question: its best move, with the moves after it if they are known. */
  protected best({ before, best }: Question): string | HTMLElement {
    return this.line(before.position, bestLine(before, best, this.state), []);
  }

  protected say(...words: Words): void {
    this.view.words.replaceChildren(...words);
  }

  protected offerHelp(question: Question): void {
    this.#offer(
      ...this.hints(question),
      ["show", "Show the answer", () => void this.#reveal(question)],
      ["next", "Skip", () => this.#open(this.#at + 1)],
    );
  }

  /** Replaces the buttons. If a button had the focus, the first new button gets the focus. */
  #offer(...actions: Action[]): void {
    const { actions: root, name } = this.view;
    const hadFocus = root.contains(document.activeElement);
    const buttons = [
      ...actions,
      ["close", "Close", () => this.close()] as const,
    ].map(([id, label, does]) => makeButton(`${name}-${id}`, does, label));
    root.replaceChildren(...buttons);
    if (hadFocus) buttons[0]?.focus({ preventScroll: true });
  }

  #restart(): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    return this.#abort.signal;
  }

  /** Hides the answer while a question is asked. */
  #hide(): void {
    document.body.classList.toggle(this.view.asking, this.isAsking);
  }
}
