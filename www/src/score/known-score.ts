/** Collects the evaluations of a position of the game. The package chooses the best of them. */
import type { PositionEval } from "shelfish";
import type { Evaluated } from "shelfish/evaluator";
import * as score from "shelfish/score";
import { ending, type Node, uci } from "../game/game";

export { compareScores, isShallow, type KnownScore, type Origin } from "shelfish/score";

/** Evaluations by FEN. */
export interface KnownEvals {
  readonly databaseEvals: ReadonlyMap<string, PositionEval | null>;
  readonly engineEvals: ReadonlyMap<string, Evaluated>;
}

/** Returns the best known score of a position. */
export const bestScore = (node: Node, evals: KnownEvals): score.KnownScore | undefined => score.bestScore(evalsOf(node, evals));

/** Returns the best known score of the position itself, without the lines of earlier positions. */
export const ownScore = (node: Node, evals: KnownEvals): score.KnownScore | undefined => score.ownScore(evalsOf(node, evals));

function evalsOf(node: Node, { databaseEvals, engineEvals }: KnownEvals): score.PositionEvals {
  return {
    ending: node.children.length > 0 ? undefined : ending(node.position),
    database: databaseEvals.get(node.fen),
    pgn: node.notes.given,
    engine: engineEvals.get(node.fen),
    earlier: earlier(node, databaseEvals),
  };
}

function* earlier(node: Node, databaseEvals: KnownEvals["databaseEvals"]): Generator<score.EarlierPosition> {
  for (let at = node; at.parent && at.move; at = at.parent)
    yield { uci: uci(at.move), turn: at.parent.position.turn, database: databaseEvals.get(at.parent.fen) };
}
