/** "Learn from your mistakes": each settled bad move of a side is a question. */
import type { Color } from "chessops/types";
import { opposite } from "chessops/util";
import type { DatabaseClient } from "../database/client";
import { byId, makeButton } from "../shell/dom";
import type { State } from "../state/state";
import { capitalised } from "../text/words";
import { type Judge, questionsOf } from "./answer";
import { type Action, type QuestionBoard, Questions } from "./questions";

interface LearnBoard extends QuestionBoard {
  readonly side: Color;
  /** Turns the board, so that the side is below. */
  turn(side: Color): void;
}

export function learnFrom(
  state: State,
  client: Pick<DatabaseClient, "lookupMany">,
  judge: () => Judge,
  board: LearnBoard,
): Questions {
  const of = (side: Color, areMinor = false) =>
    state.assessment ? questionsOf(state.assessment, side, areMinor) : [];
  const begin = (side: Color, areMinor: boolean) => {
    board.turn(side);
    // On small screens, the questions are in the tab of the moves.
    const tab = document.querySelector<HTMLElement>("[data-shows=moves]");
    if (tab?.offsetParent) tab.click();
    questions.begin(of(side, areMinor));
  };
  /** Returns what can be asked: mistakes first, of the side at the bottom first. */
  const offers = () =>
    [false, true].flatMap((areMinor) =>
      [board.side, opposite(board.side)].flatMap((side) =>
        of(side, areMinor).length > 0 ? [[side, areMinor] as const] : [],
      ),
    );
  const questions = new Questions(state, client, board, {
    label: "Learn from your mistakes",
    below: byId("notice"),
    judge,
    further: () =>
      offers().map(([side, areMinor]): Action => {
        const words = areMinor ? "Inaccuracies" : "Mistakes";
        return [
          `${words.toLowerCase()}-${side}`,
          `${words} of ${capitalised(side)}`,
          () => begin(side, areMinor),
        ];
      }),
  });
  const start = makeButton(
    { className: "primary", hidden: true, "data-testid": "learn-start" },
    () => begin(...(offers()[0] ?? ([board.side, false] as const))),
    "Learn from mistakes",
  );
  byId("summary").after(start);
  const offerStart = () => (start.hidden = offers().length === 0);
  state.on(({ game, tree, report }) => {
    const line = tree ? state.game.mainline() : [];
    if (tree && !questions.asked.every(({ mistake }) => line.includes(mistake)))
      questions.close();
    if (report || game || tree) offerStart();
  });
  offerStart();
  return questions;
}
