/**
 * Training: each repeated mistake is a question on the board. Spaced repetition by Leitner's boxes: a right answer at the first attempt moves a question
 * to the next box, a wrong answer back to box 1. The box decides after how many days the question is asked again.
 */
import {
  openStorage,
  requestResult,
  transactionEnd,
} from "../../../crate/js/shared/indexed-db.ts";
import type { DatabaseClient } from "../database/client";
import { positionKey, steps, uci } from "../game/game";
import type { Question } from "../learn/answer";
import { type QuestionBoard, Questions } from "../learn/questions";
import { byId } from "../shell/dom";
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

const keyOf = (position: string, move: string) => `${position} ${move}`;

export class Trainer {
  readonly questions: Questions;
  /** The states are read once: answers in another tab are not seen until the page is loaded again. */
  readonly #known = new Map<string, Scheduled>();
  #database: IDBDatabase | undefined;

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
    // Private windows have no IndexedDB: the schedule lasts for the visit.
    void this.#load().then(changed, () => {});
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
    const position = positionKey(before);
    const move = mistake.move ? uci(mistake.move) : "";
    const key = keyOf(position, move);
    const { days, ...next } = scheduled(
      this.#known.get(key),
      isRight,
      Date.now(),
    );
    this.#known.set(key, next);
    if (this.#database) {
      const transaction = this.#database.transaction("questions", "readwrite");
      transaction
        .objectStore("questions")
        .put({ position, uci: move, ...next });
      // A full disk loses only the schedule: this visit has the state.
      transactionEnd(transaction).catch(() => {});
    }
    this.changed();
    return `. The question is asked again in ${plural(days, "day")}.`;
  }

  async #load(): Promise<void> {
    this.#database = await openStorage("shelfish-training", 1, (database) =>
      database.createObjectStore("questions", {
        keyPath: ["position", "uci"],
      }),
    );
    const questions = this.#database
      .transaction("questions")
      .objectStore("questions");
    for (const { position, uci, ...each } of await requestResult<
      ({ position: string; uci: string } & Scheduled)[]
    >(questions.getAll()))
      this.#known.set(keyOf(position, uci), each);
  }
}
