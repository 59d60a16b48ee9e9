/** "Learn from your mistakes": each settled bad move of a side is a question on the board. */
import "./learn.css";
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import type { Key } from "@lichess-org/chessground/types";
import type { DatabaseClient } from "../database/client";
import { type LineActions, lineMoves } from "../evaluation/lines";
import { moveNumber, squares, type Step, steps, uci } from "../game/game";
import { knownLine } from "../score/known-score";
import { byId, make } from "../shell/dom";
import type { State } from "../state/state";
import type { Verdict } from "./answer";
import { type Question, questionsOf } from "./questions";
import { type Action, TrainingSession, type Words } from "./training-session";

/** The board of the page. */
export interface LearnBoard {
  readonly side: Color;
  /** Turns the board, so that the side is below. */
  turn(side: Color): void;
  /** Shows the position of the state again. */
  reset(): void;
  circle(squares: readonly Key[]): void;
  preview: LineActions["preview"];
}

const NAMES = { white: "White", black: "Black" } as const;

export class Learn extends TrainingSession<Question> {
  readonly #start = make(
    "button",
    {
      type: "button",
      className: "learn-start",
      hidden: true,
      "data-testid": "learn-start",
    },
    "Learn from mistakes",
  );
  #side: Color = "white";
  /** Number of hints that were shown for a question. */
  readonly #hints = new WeakMap<Question, number>();

  constructor(
    state: State,
    client: Pick<DatabaseClient, "lookup">,
    private readonly board: LearnBoard,
  ) {
    const title = make("strong", {});
    const words = make("div", {
      className: "learn-words",
      role: "status",
      "data-testid": "learn-words",
    });
    const actions = make("div", { className: "learn-actions" });
    const root = make(
      "section",
      {
        className: "learn",
        hidden: true,
        "aria-label": "Learn from your mistakes",
        "data-testid": "learn",
      },
      title,
      words,
      actions,
    );
    super(
      state,
      client,
      { name: "learn", asking: "learning", root, title, words, actions },
      () => board.reset(),
    );
    byId("notice").before(root);
    this.#start.addEventListener("click", () => this.#begin(this.#sides()[0]));
    state.on(({ game, tree, report, progress }) => {
      if (game || (tree && !this.#isInGame())) this.close();
      if (report || progress || game || tree) this.#offerStart();
    });
    this.#offerStart();
  }

  /** Whether the questions are still moves of the main line. */
  #isInGame(): boolean {
    const line = new Set(this.state.game.mainline());
    return this.questions.every(({ mistake }) => line.has(mistake));
  }

  /** Returns the sides that have questions, the side at the bottom first. */
  #sides(): Color[] {
    const { assessment } = this.state;
    const sides: Color[] =
      this.board.side === "white" ? ["white", "black"] : ["black", "white"];
    return assessment
      ? sides.filter((side) => questionsOf(assessment, side).length > 0)
      : [];
  }

  /** Offers the questions in the row of the analysis when it is complete; without an engine, below the report. */
  #offerStart(): void {
    this.#start.hidden =
      this.state.progress !== undefined || this.#sides().length === 0;
    const row =
      document.querySelector<HTMLElement>("#report .filling:not([hidden])") ??
      byId("report");
    if (this.#start.parentElement !== row) row.append(this.#start);
  }

  #begin(side: Color | undefined): void {
    const { assessment } = this.state;
    if (!side || !assessment) return;
    this.#side = side;
    this.board.turn(side);
    this.begin(questionsOf(assessment, side));
    this.view.title.scrollIntoView({ block: "nearest" });
  }

  protected isOnBoard({ before }: Question): boolean {
    return this.state.node === before;
  }

  protected showPosition({ before }: Question): void {
    this.state.go(before);
  }

  protected task({ before, mistake, kind }: Question): string {
    this.board.circle([]);
    return `${moveNumber(before.position)} ${mistake.san} was ${kind === "inaccuracy" ? "an" : "a"} ${kind}. Find a better move for ${NAMES[this.#side]}.`;
  }

  protected refusal(
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

  protected praise(question: Question, step: Step, { score }: Verdict): Words {
    const isBest = step.san === question.best.san || score === undefined;
    return [
      isBest
        ? `${step.san} is right. The line: `
        : `${step.san} is good too (${score}). The best line: `,
      this.best(question),
      ...this.#reason(question),
    ];
  }

  /** Returns the best line and the refutation of the move of the game. */
  protected solution(question: Question): Words {
    const { mistake, explanation } = question;
    const refutation = knownLine(mistake, this.state);
    const parts =
      refutation.length > 0
        ? [
            `. The answer to ${mistake.san} was `,
            this.line(mistake.position, refutation, this.#played(question)),
          ]
        : [];
    // The line of a loss is the beginning of the answer.
    const isAnswer =
      explanation?.begins === "after" && explanation.line.length > 0;
    return [
      "The best line: ",
      this.best(question),
      ...this.#reason(question),
      ...(isAnswer ? [] : parts),
    ];
  }

  /** Returns the reason why the move of the game is bad, with the line that proves it. */
  #reason(question: Question): Words {
    const { before, mistake, explanation } = question;
    if (!explanation) return [];
    const [start, lead] =
      explanation.begins === "before"
        ? [before.position, []]
        : [mistake.position, this.#played(question)];
    const line = steps(start, explanation.line);
    const text = `. ${mistake.san} ${explanation.text}`;
    return line.length > 0
      ? [`${text}: `, this.line(start, line, lead)]
      : [text];
  }

  /** Returns the move of the game. */
  #played({ before, mistake }: Question): Step[] {
    return steps(before.position, [mistake.move ? uci(mistake.move) : ""]);
  }

  /** Returns a line as buttons. A click plays the line up to a move, after the moves that lead to its first position. */
  protected line(
    start: Step["position"],
    line: readonly Step[],
    lead: readonly Step[],
  ): HTMLElement {
    const from = this.question?.before;
    const play = (moves: readonly Step[]) => {
      if (!from) return;
      this.settle();
      this.state.play(from, ...[...lead, ...moves].map(({ move }) => move));
    };
    return lineMoves(start, line, { preview: this.board.preview, play });
  }

  protected override hints(question: Question): Action[] {
    return (this.#hints.get(question) ?? 0) < 2
      ? [["hint", "Hint", () => this.#hint(question)]]
      : [];
  }

  /** Names the piece of the best move, then the square that it goes to. */
  #hint(question: Question): void {
    const { before, best } = question;
    const [from, to] = squares(before.position, best.move) as [Key, Key];
    const role = before.position.board.getRole(best.move.from) ?? "piece";
    const isSecond = this.#hints.has(question);
    this.#hints.set(question, isSecond ? 2 : 1);
    this.board.circle(isSecond ? [from, to] : [from]);
    this.say(
      isSecond
        ? `The ${role} on ${from} goes to ${to}.`
        : `A better move is with the ${role} on ${from}.`,
    );
    this.offerHelp(question);
  }

  protected override further(): Action[] {
    const other = opposite(this.#side);
    const others: Action[] = this.#sides().includes(other)
      ? [["other", `Mistakes of ${NAMES[other]}`, () => this.#begin(other)]]
      : [];
    return [["again", "Again", () => this.#begin(this.#side)], ...others];
  }
}
