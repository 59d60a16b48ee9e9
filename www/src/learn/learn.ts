/** "Learn from your mistakes": each settled bad move of a side is a question on the board. */
import "./learn.css";
import type { Key } from "@lichess-org/chessground/types";
import type { NormalMove } from "chessops/types";
import { type LineActions, lineMoves } from "../evaluation/lines";
import { moveNumber, squares, type Step, steps, uci } from "../game/game";
import { bestScore } from "../score/known-score";
import { byId, make } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import type { Answers } from "./answer";
import { type Question, questionsOf, type Side } from "./questions";

/** The board of the page. */
export interface LearnBoard {
  readonly side: Side;
  /** Turns the board, so that the side is below. */
  turn(side: Side): void;
  /** Shows the position of the state again. */
  reset(): void;
  circle(squares: readonly Key[]): void;
  preview: LineActions["preview"];
}

const NAMES = { white: "White", black: "Black" } as const;

export class Learn {
  readonly #start = make("button", { type: "button", className: "learn-start", hidden: true, "data-testid": "learn-start" }, "Learn from mistakes");
  readonly #title = make("strong", {});
  readonly #words = make("div", { className: "learn-words", role: "status", "data-testid": "learn-words" });
  readonly #actions = make("div", { className: "learn-actions" });
  readonly #box = make("section", { className: "learn", hidden: true, "aria-label": "Learn from your mistakes", "data-testid": "learn" }, this.#title, this.#words, this.#actions);
  #questions: readonly Question[] = [];
  #side: Side = "white";
  #at = 0;
  /** Number of hints that were shown for the question. */
  #hints = 0;
  /** Whether the question is neither answered nor shown with its answer. */
  #isOpen = false;
  #solved = 0;
  #abort = new AbortController();

  constructor(
    private readonly state: State,
    private readonly board: LearnBoard,
    private readonly answers: Answers,
  ) {
    byId("notice").before(this.#box);
    this.#start.addEventListener("click", () => this.#begin(this.#sides()[0]));
    state.on(({ game, tree, report, node, progress }) => {
      if (game || (tree && !this.#isInGame())) this.close();
      if (report || progress || game || tree) this.#offer();
      if (node && this.#isOpen) this.#ask();
    });
    this.#offer();
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
    this.#abort.abort();
    this.#isOpen = false;
    this.#questions = [];
    this.#box.hidden = true;
    this.answers.close();
    this.#hide();
  }

  get #question(): Question | undefined {
    return this.#questions[this.#at];
  }

  /** Whether the questions are still moves of the main line. */
  #isInGame(): boolean {
    const line = new Set(this.state.game.mainline());
    return this.#questions.every(({ mistake }) => line.has(mistake));
  }

  /** Returns the sides that have questions, the side at the bottom first. */
  #sides(): Side[] {
    const { assessment } = this.state;
    const sides: Side[] = this.board.side === "white" ? ["white", "black"] : ["black", "white"];
    return assessment ? sides.filter((side) => questionsOf(assessment, side).length > 0) : [];
  }

  /** Offers the questions in the row of the analysis when it is complete; without an engine, below the report. */
  #offer(): void {
    this.#start.hidden = this.state.progress !== undefined || this.#sides().length === 0;
    const row = document.querySelector<HTMLElement>("#report .filling:not([hidden])") ?? byId("report");
    if (this.#start.parentElement !== row) row.append(this.#start);
  }

  #begin(side: Side | undefined): void {
    const { assessment } = this.state;
    if (!side || !assessment) return;
    this.#side = side;
    this.#questions = questionsOf(assessment, side);
    this.#solved = 0;
    this.#box.hidden = false;
    this.board.turn(side);
    this.#open(0);
    this.#title.scrollIntoView({ block: "nearest" });
  }

  #open(at: number): void {
    this.#abort.abort();
    this.#at = at;
    this.#hints = 0;
    const question = this.#question;
    this.#isOpen = question !== undefined;
    if (!question) return this.#end();
    if (this.state.node === question.before) this.#ask();
    else this.state.go(question.before);
  }

  /** Shows the question, or how to return to it if another position is on the board. */
  #ask(): void {
    const question = this.#question;
    if (!question) return;
    this.#abort.abort();
    this.#hide();
    const { mistake, before, kind } = question;
    this.#title.textContent = `Question ${this.#at + 1} of ${this.#questions.length}`;
    if (!this.isAsking) {
      this.#say("The board shows another position.");
      return this.#offerActions([["learn-back", "Back to the question", () => this.state.go(before)], ...this.#leave()]);
    }
    this.board.reset();
    this.board.circle([]);
    this.#say(`${moveNumber(before.position)} ${mistake.san} was ${kind === "inaccuracy" ? "an" : "a"} ${kind}. Find a better move for ${NAMES[this.#side]}.`);
    this.#offerHelp();
  }

  async #check(question: Question, step: Step): Promise<void> {
    this.#abort.abort();
    const { signal } = (this.#abort = new AbortController());
    this.#say(`Checking ${step.san}…`);
    try {
      const verdict = await this.answers.check(question, step, signal);
      if (signal.aborted) return;
      if (verdict?.isGood) return this.#solve(question, step, verdict.score);
      this.board.reset();
      if (!verdict) this.#say(`${step.san} cannot be checked: the database does not have it, and there is no engine.`);
      else {
        // The reason of a missed chance would give the answer away.
        const { mistake, explanation } = question;
        const reason = explanation?.begins === "after" ? `: it ${explanation.text}` : "";
        const same = step.san === mistake.san ? `${step.san} is the move of the game${reason}.` : `${step.san} gives away too much (${verdict.score}).`;
        this.#say(`${same} Try again.${verdict.line.length > 0 ? " The answer to it is " : ""}`, this.#line(step.position, verdict.line, [step]));
      }
      this.#offerHelp();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #solve(question: Question, step: Step, score: string | undefined): void {
    const { before, best } = question;
    this.#solved++;
    this.#isOpen = false;
    this.board.reset();
    this.#hide();
    const isBest = step.san === best.san || score === undefined;
    this.#say(isBest ? `${step.san} is right. The line: ` : `${step.san} is good too (${score}). The best line: `, this.#best(before, best), ...this.#reason(question));
    this.#offerNext();
  }

  /** Shows the best line and the refutation of the move of the game. */
  #show(question: Question): void {
    const { before, mistake, best } = question;
    this.#abort.abort();
    this.#isOpen = false;
    this.board.reset();
    this.#hide();
    const refutation = steps(mistake.position, bestScore(mistake, this.state)?.line ?? []);
    const parts = refutation.length > 0 ? [`. The answer to ${mistake.san} was `, this.#line(mistake.position, refutation, this.#played(question))] : [];
    // The line of a loss is the beginning of the answer.
    const isAnswer = question.explanation?.begins === "after" && question.explanation.line.length > 0;
    this.#say("The best line: ", this.#best(before, best), ...this.#reason(question), ...(isAnswer ? [] : parts));
    this.#offerNext();
  }

  /** Returns the reason why the move of the game is bad, with the line that proves it. */
  #reason(question: Question): (string | HTMLElement)[] {
    const { before, mistake, explanation } = question;
    if (!explanation) return [];
    const [start, lead] = explanation.begins === "before" ? [before.position, []] : [mistake.position, this.#played(question)];
    const line = steps(start, explanation.line);
    const text = `. ${mistake.san} ${explanation.text}`;
    return line.length > 0 ? [`${text}: `, this.#line(start, line, lead)] : [text];
  }

  /** Returns the move of the game. */
  #played({ before, mistake }: Question): Step[] {
    return steps(before.position, [mistake.move ? uci(mistake.move) : ""]);
  }

  /** Names the piece of the best move, then the square that it goes to. */
  #hint({ before, best }: Question): void {
    const [from, to] = squares(before.position, best.move) as [Key, Key];
    const role = before.position.board.getRole(best.move.from) ?? "piece";
    this.#hints++;
    this.board.circle(this.#hints > 1 ? [from, to] : [from]);
    this.#say(this.#hints > 1 ? `The ${role} on ${from} goes to ${to}.` : `A better move is with the ${role} on ${from}.`);
    this.#offerHelp();
  }

  #end(): void {
    this.#hide();
    const other: Side = this.#side === "white" ? "black" : "white";
    this.#title.textContent = "All questions are done";
    this.#say(`You found ${this.#solved} of ${plural(this.#questions.length, "better move")}.`);
    const again: Action = ["learn-again", "Again", () => this.#begin(this.#side)];
    const others: Action[] = this.#sides().includes(other) ? [["learn-other", `Mistakes of ${NAMES[other]}`, () => this.#begin(other)]] : [];
    this.#offerActions([again, ...others, ...this.#leave()]);
  }

  #best(before: Question["before"], best: Step): HTMLElement {
    const known = steps(before.position, bestScore(before, this.state)?.line ?? []);
    return this.#line(before.position, known[0]?.san === best.san ? known : [best], []);
  }

  /** Returns a line as buttons. A click plays the line up to a move, after the moves that lead to its first position. */
  #line(start: Step["position"], line: readonly Step[], lead: readonly Step[]): HTMLElement {
    const from = this.#question?.before;
    const play = (moves: readonly Step[]) => {
      if (!from) return;
      this.#isOpen = false;
      this.#hide();
      this.state.play(from, ...[...lead, ...moves].map(({ move }) => move));
    };
    return lineMoves(start, line, { preview: this.board.preview, play });
  }

  #offerHelp(): void {
    const question = this.#question;
    if (!question) return;
    const hint: Action[] = this.#hints < 2 ? [["learn-hint", "Hint", () => this.#hint(question)]] : [];
    this.#offerActions([...hint, ["learn-show", "Show the answer", () => this.#show(question)], ["learn-next", "Skip", () => this.#open(this.#at + 1)], ...this.#leave()]);
  }

  #offerNext(): void {
    const isLast = this.#at + 1 === this.#questions.length;
    this.#offerActions([["learn-next", isLast ? "Finish" : "Next question", () => this.#open(this.#at + 1)], ...this.#leave()]);
  }

  #leave(): Action[] {
    return [["learn-close", "Close", () => this.close()]];
  }

  #say(text: string, ...more: (string | HTMLElement)[]): void {
    this.#words.replaceChildren(text, ...more);
  }

  /** Replaces the buttons. If a button had the focus, the first new button gets the focus. */
  #offerActions(actions: readonly Action[]): void {
    const hadFocus = this.#actions.contains(document.activeElement);
    const buttons = actions.map(([id, label, does]) => {
      const button = make("button", { type: "button", "data-testid": id }, label);
      button.addEventListener("click", does);
      return button;
    });
    this.#actions.replaceChildren(...buttons);
    if (hadFocus) buttons[0]?.focus({ preventScroll: true });
  }

  /** Hides evaluations and lines while a question is asked. */
  #hide(): void {
    document.body.classList.toggle("learning", this.isAsking);
  }
}

type Action = readonly [id: string, label: string, does: () => void];
