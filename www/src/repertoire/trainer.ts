/**
 * Training: each repeated mistake is a question on the board. Spaced repetition by Leitner's boxes: a right answer at the first attempt moves a question
 * to the next box, a wrong answer back to box 1. The box decides after how many days the question is asked again.
 */
import type { DatabaseClient } from "../database/client";
import { positionKey, steps, uci } from "../game/game";
import type { Question } from "../learn/answer";
import { type QuestionBoard, Questions } from "../learn/questions";
import { byId, readObject, writeString } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/words";
import { lineTo, type RepeatedMistake, type Repertoire } from "./repertoire";

/** Days until a question of box 1, 2, … is asked again. */
const DAYS = [1, 3, 7, 16, 35] as const;
const DAY = 86_400_000;

/** The state of a question. */
export interface Scheduled {
  /** Box, from 1. */
  box: number;
  /** When the question is asked again, in milliseconds since 1970. */
  due: number;
}

/** Returns the state after an answer at a time. A new question is in box 1. */
export function scheduled(
  before: Scheduled | undefined,
  isRight: boolean,
  now: number,
): Scheduled & { days: number } {
  const box = isRight ? Math.min((before?.box ?? 1) + 1, DAYS.length) : 1;
  const days = DAYS[box - 1] ?? DAYS[0];
  return { box, days, due: now + days * DAY };
}

/** Key of the stored states. */
const KEY = "training";

const keyOf = (position: string, move: string) => `${position} ${move}`;

/** Returns the stored states by question, without invalid ones. */
const stored = () =>
  Object.entries(readObject(KEY) as Record<string, Scheduled | null>).flatMap(
    ([key, each]) =>
      Number.isInteger(each?.box) && Number.isFinite(each?.due)
        ? [[key, each as Scheduled] as const]
        : [],
  );

export class Trainer {
  readonly questions: Questions;
  /** The states are read once: answers in another tab are not seen until the page is loaded again. */
  readonly #known = new Map(stored());

  /** `changed` is called after each change of the schedule. */
  constructor(
    private readonly state: State,
    private readonly client: DatabaseClient,
    board: QuestionBoard,
    private readonly changed: () => void,
  ) {
    this.questions = new Questions(state, client, board, {
      label: "Training",
      below: byId("tree"),
      record: (question, isRight) => this.#record(question, isRight),
    });
  }

  /** Returns when the question of a mistake is due; 0 for a new question. */
  due({ key, move }: RepeatedMistake): number {
    return this.#known.get(keyOf(key, move.uci))?.due ?? 0;
  }

  /** Asks the questions of mistakes. */
  async start(
    repertoire: Repertoire,
    mistakes: readonly RepeatedMistake[],
  ): Promise<void> {
    const { game } = this.state;
    const questions = mistakes.flatMap(({ key, move, best }): Question[] => {
      let before = game.root;
      for (const step of steps(before.position, lineTo(repertoire, key)))
        before = game.play(before, step.move);
      const [[bad], [better]] = [
        steps(before.position, [move.uci]),
        steps(before.position, [best]),
      ];
      return bad && better
        ? [
            {
              before,
              mistake: game.play(before, bad.move),
              best: better,
              fault: `played in ${plural(move.games.length, "game")}`,
              explanation: null,
            },
          ]
        : [];
    });
    const { answers } = await this.client.lookupMany(
      questions.flatMap(({ before, mistake }) => [before.fen, mistake.fen]),
      new AbortController().signal,
    );
    if (this.state.game !== game) return;
    this.state.addDatabaseEvals(answers);
    this.questions.begin(questions);
  }

  #record({ before, mistake }: Question, isRight: boolean): string {
    const key = keyOf(
      positionKey(before),
      mistake.move ? uci(mistake.move) : "",
    );
    const { days, ...next } = scheduled(
      this.#known.get(key),
      isRight,
      Date.now(),
    );
    this.#known.set(key, next);
    // Keeps the answers in other tabs. A full disk loses only the schedule: this visit has the state.
    writeString(KEY, JSON.stringify({ ...readObject(KEY), [key]: next }));
    this.changed();
    return `. The question is asked again in ${plural(days, "day")}.`;
  }
}
