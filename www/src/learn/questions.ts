/** Questions on the board: a bad move is shown, and a better move is the answer. */
import "../style/parts.css";
import type { Key } from "@lichess-org/chessground/types";
import type { NormalMove } from "chessops/types";
import { type DatabaseClient, explain } from "../database/client";
import { type LineActions, lineMoves } from "../evaluation/lines";
import { moveNumber, squares, type Step, steps, uci } from "../game/game";
import { Latest } from "../loading/loading";
import { bestLine, knownLine } from "../score/known-score";
import { make, makeButton } from "../shell/dom";
import type { State } from "../state/state";
import { capitalised, plural } from "../text/words";
import { Answers, type Judge, type Question, type Verdict } from "./answer";

/** The board of the page. */
export interface QuestionBoard {
  /** Shows the position of the state again. */
  reset(): void;
  circle(squares: readonly Key[]): void;
  preview: LineActions["preview"];
}

/** A button. */
export type Action = readonly [id: string, label: string, does: () => void];
type Words = (string | HTMLElement)[];

/** What the questions of a page are. */
interface Purpose {
  label: string;
  /** The element below the questions. */
  below: HTMLElement;
  /** Notes the first answer to a question; a shown answer counts as a wrong one. Returns words that end the right answer. */
  record?(question: Question, isRight: boolean): string;
  /** Returns the engine of the report. */
  judge?: () => Judge;
  /** Returns the buttons after the last question. */
  further?(): Action[];
}

export class Questions {
  readonly #title = make("strong", {});
  readonly #words = make("div", {
    className: "learn-words",
    role: "status",
    "data-testid": "learn-words",
  });
  readonly #actions = make("div", "learn-actions");
  readonly #root: HTMLElement;
  readonly #answers: Answers;
  #questions: readonly Question[] = [];
  #at = 0;
  /** Whether the question is neither answered nor shown with its answer. */
  #isOpen = false;
  #solved = 0;
  /** Number of hints that were shown for the question. */
  #hints = 0;
  /** Words that end the right answer, after the first answer. */
  #note: string | undefined;
  readonly #abort = new Latest();

  constructor(
    private readonly state: State,
    client: Pick<DatabaseClient, "lookupMany">,
    private readonly board: QuestionBoard,
    private readonly purpose: Purpose,
  ) {
    this.#answers = new Answers(state, client, purpose.judge);
    this.#root = make(
      "section",
      {
        className: "learn",
        hidden: true,
        "aria-label": purpose.label,
        "data-testid": "learn",
      },
      this.#title,
      this.#words,
      this.#actions,
    );
    purpose.below.before(this.#root);
    state.on(({ node, game }) => {
      if (node && this.#isOpen) this.#ask();
      if (game) this.close();
    });
  }

  /** Whether the board asks a question: the page hides evaluations and lines then. */
  get isAsking(): boolean {
    return this.#isOpen && this.state.node === this.#question?.before;
  }

  /** Takes a move on the board as an answer. Returns whether a question was asked. */
  take(move: NormalMove): boolean {
    const question = this.#question;
    if (!question || !this.isAsking) return false;
    const [step] = steps(question.before.position, [uci(move)]);
    if (step) void this.#check(question, step);
    return true;
  }

  close(): void {
    this.#settle();
    this.#questions = [];
    this.#root.hidden = true;
    this.#answers.close();
  }

  get #question(): Question | undefined {
    return this.#questions[this.#at];
  }

  get asked(): readonly Question[] {
    return this.#questions;
  }

  begin(questions: readonly Question[]): void {
    this.#questions = questions;
    this.#solved = 0;
    this.#root.hidden = false;
    this.#open(0);
    this.#title.scrollIntoView({ block: "nearest" });
  }

  #open(at: number): void {
    this.#abort.abort();
    this.#at = at;
    this.#hints = 0;
    this.#note = undefined;
    const question = this.#question;
    this.#isOpen = question !== undefined;
    if (!question) this.#end();
    else if (this.isAsking) this.#ask();
    else this.state.go(question.before);
  }

  /** Shows the question, or how to return to it if another position is on the board. */
  #ask(): void {
    const question = this.#question;
    if (!question) return;
    const { before, mistake, fault } = question;
    this.#abort.abort();
    this.#hide();
    this.#title.textContent = `Question ${this.#at + 1} of ${this.#questions.length}`;
    if (!this.isAsking) {
      this.#say("The board shows another position.");
      return this.#offer([
        "back",
        "Back to the question",
        () => this.state.go(before),
      ]);
    }
    this.board.reset();
    this.board.circle([]);
    this.#say(
      `${moveNumber(before.position)} ${mistake.san} was ${fault}. Find a better move for ${capitalised(before.position.turn)}.`,
    );
    this.#offerHelp(question);
  }

  async #check(question: Question, step: Step): Promise<void> {
    const signal = this.#abort.begin();
    this.#say(`Checking ${step.san}…`);
    try {
      const verdict = await this.#answers.check(question, step, signal);
      if (signal.aborted) return;
      this.board.reset();
      if (verdict) this.#record(question, verdict.isGood);
      if (verdict?.isGood) {
        this.#solved++;
        return this.#finish(this.#praise(question, step, verdict));
      }
      if (!verdict)
        this.#say(
          `${step.san} cannot be checked: the database does not have it, and there is no engine.`,
        );
      else
        this.#say(
          `${refusal(question, step, verdict)} Try again.`,
          ...(verdict.line.length > 0
            ? [
                " The answer to it is ",
                this.#line(step.position, verdict.line, [step]),
              ]
            : []),
        );
    } catch (error) {
      if (signal.aborted) return;
      const { title, advice } = explain(error);
      this.board.reset();
      this.#say(`${title} ${advice}`);
    }
    this.#offerHelp(question);
  }

  #record(question: Question, isRight: boolean): void {
    this.#note ??= this.purpose.record?.(question, isRight) ?? "";
  }

  #finish(words: Words): void {
    this.#settle();
    this.#say(...words, this.#note ?? "");
    const isLast = this.#at + 1 === this.#questions.length;
    this.#offer([
      "next",
      isLast ? "Finish" : "Next question",
      () => this.#open(this.#at + 1),
    ]);
  }

  #end(): void {
    this.#hide();
    this.#title.textContent = "All questions are done";
    this.#say(
      `You found ${this.#solved} of ${plural(this.#questions.length, "better move")}.`,
    );
    this.#offer(...(this.purpose.further?.() ?? []));
  }

  /** Ends the question, so that the page shows evaluations and lines again. */
  #settle(): void {
    this.#abort.abort();
    this.#isOpen = false;
    this.#hide();
  }

  /** Returns the best line of a question: its best move, with the moves after it if they are known. */
  #best({ before, best }: Question): HTMLElement {
    return this.#line(before.position, bestLine(before, best, this.state), []);
  }

  /** Praises a good answer and returns the best line. */
  #praise(question: Question, step: Step, verdict: Verdict): Words {
    const { score, better } = verdict;
    const isBest = step.san === question.best.san || score === undefined;
    return [
      isBest
        ? `${step.san} is right. The line: `
        : better
          ? `${step.san} is right: it wins too (${score}, the fastest ${better}). The best line: `
          : `${step.san} is good too (${score}). The best line: `,
      this.#best(question),
      ...this.#reason(question),
    ];
  }

  /** Returns the best line and the refutation of the move of the game. */
  #solution(question: Question): Words {
    const { mistake, explanation } = question;
    const refutation = knownLine(mistake, this.state);
    // The line of a loss is the beginning of the answer.
    const isAnswer =
      explanation?.begins === "after" && explanation.line.length > 0;
    return [
      "The best line: ",
      this.#best(question),
      ...this.#reason(question),
      ...(isAnswer || refutation.length === 0
        ? []
        : [
            `. The answer to ${mistake.san} was `,
            this.#line(mistake.position, refutation, played(question)),
          ]),
    ];
  }

  /** Returns the reason why the move of the game is bad, with the line that proves it. */
  #reason(question: Question): Words {
    const { before, mistake, explanation } = question;
    if (!explanation) return [];
    const [start, lead] =
      explanation.begins === "before"
        ? [before.position, []]
        : [mistake.position, played(question)];
    const line = steps(start, explanation.line);
    const text = `. ${mistake.san} ${explanation.text}`;
    return line.length > 0
      ? [`${text}: `, this.#line(start, line, lead)]
      : [text];
  }

  /** Returns a line as buttons. A click plays the line up to a move, after the moves that lead to its first position. */
  #line(
    start: Step["position"],
    line: readonly Step[],
    lead: readonly Step[],
  ): HTMLElement {
    const from = this.#question?.before;
    const play = (moves: readonly Step[]) => {
      if (!from) return;
      this.#settle();
      this.state.play(from, ...[...lead, ...moves].map(({ move }) => move));
    };
    return lineMoves(start, line, { preview: this.board.preview, play });
  }

  /** Names the piece of the best move, then the square that it goes to. */
  #hint(question: Question): void {
    const { before, best } = question;
    const [from, to] = squares(before.position, best.move) as [Key, Key];
    const role = before.position.board.getRole(best.move.from) ?? "piece";
    const isSecond = ++this.#hints === 2;
    this.board.circle(isSecond ? [from, to] : [from]);
    this.#say(
      isSecond
        ? `The ${role} on ${from} goes to ${to}.`
        : `A better move is with the ${role} on ${from}.`,
    );
    this.#offerHelp(question);
  }

  #say(...words: Words): void {
    this.#words.replaceChildren(...words);
  }

  #offerHelp(question: Question): void {
    const hints: Action[] =
      this.#hints < 2 ? [["hint", "Hint", () => this.#hint(question)]] : [];
    this.#offer(
      ...hints,
      [
        "show",
        "Show the answer",
        () => {
          this.#record(question, false);
          this.board.reset();
          this.#finish(this.#solution(question));
        },
      ],
      ["next", "Skip", () => this.#open(this.#at + 1)],
    );
  }

  /** Replaces the buttons. If a button had the focus, the first new button gets the focus. */
  #offer(...actions: Action[]): void {
    const hadFocus = this.#actions.contains(document.activeElement);
    const buttons = [
      ...actions,
      ["close", "Close", () => this.close()] as const,
    ].map(([id, label, does]) => makeButton(`learn-${id}`, does, label));
    this.#actions.replaceChildren(...buttons);
    if (hadFocus) buttons[0]?.focus({ preventScroll: true });
  }

  /** Hides the answer while a question is asked. */
  #hide(): void {
    document.body.classList.toggle("learning", this.isAsking);
  }
}

/** Returns the move of the game. */
const played = ({ before, mistake }: Question): Step[] =>
  steps(before.position, [mistake.move ? uci(mistake.move) : ""]);

/** Says why an answer is bad. */
function refusal(
  { mistake, explanation }: Question,
  step: Step,
  { score }: Verdict,
): string {
  // The reason of a missed chance would give the answer away.
  const reason =
    explanation?.begins === "after" ? `: it ${explanation.text}` : "";
  return step.san === mistake.san
    ? `${step.san} is the move of the game${reason}.`
    : `${step.san} gives away too much (${score}).`;
}
