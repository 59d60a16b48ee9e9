/** "Learn from your mistakes": each settled bad move of a side is a question. */
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import type { DatabaseClient } from "../database/client";
import { byId, makeButton } from "../shell/dom";
import type { State } from "../state/state";
import { capitalised } from "../text/words";
import { questionsOf } from "./answer";
import { type Action, type QuestionBoard, Questions } from "./questions";

interface LearnBoard extends QuestionBoard {
  readonly side: Color;
  /** Turns the board, so that the side is below. */
  turn(side: Color): void;
}

export function learnFrom(
  state: State,
  client: Pick<DatabaseClient, "lookup">,
  board: LearnBoard,
): Questions {
  let asked: Color = "white";
  const of = (side: Color) =>
    state.assessment ? questionsOf(state.assessment, side) : [];
  /** Returns the sides that have questions, the side at the bottom first. */
  const sides = () =>
    [board.side, opposite(board.side)].filter((side) => of(side).length > 0);
  const begin = (side = board.side) => {
    asked = side;
    board.turn(side);
    questions.begin(of(side));
  };
  const questions = new Questions(state, client, board, {
    label: "Learn from your mistakes",
    below: byId("notice"),
    further: () => {
      const other = opposite(asked);
      const others: Action[] = sides().includes(other)
        ? [["other", `Mistakes of ${capitalised(other)}`, () => begin(other)]]
        : [];
      return [["again", "Again", () => begin(asked)], ...others];
    },
  });
  const start = makeButton(
    { className: "primary", hidden: true, "data-testid": "learn-start" },
    () => begin(sides()[0]),
    "Learn from mistakes",
  );
  byId("summary").after(start);
  const offerStart = () => (start.hidden = sides().length === 0);
  state.on(({ game, tree, report }) => {
    const line = tree ? state.game.mainline() : [];
    if (tree && !questions.asked.every(({ mistake }) => line.includes(mistake)))
      questions.close();
    if (report || game || tree) offerStart();
  });
  offerStart();
  return questions;
}
