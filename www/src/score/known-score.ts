/** Collects the evaluations of a position of the game. The package chooses the best evaluation. It also decides whether the engine searches. */
import type { PositionEval } from "shelfish";
import type { Evaluated } from "shelfish/evaluator";
import * as score from "shelfish/score";
import { ending, type Node, uci } from "../game/game";

export { compareScores, isShallow, type KnownScore, type Origin } from "shelfish/score";

/** Evaluations by FEN, and whether the database fails. */
export interface KnownEvals {
  readonly databaseEvals: ReadonlyMap<string, PositionEval | null>;
  readonly engineEvals: ReadonlyMap<string, Evaluated>;
  readonly status: { readonly fault?: unknown };
}

/** Returns the best known score of a position. */
export const bestScore = (node: Node, evals: KnownEvals): score.KnownScore | undefined => score.bestScore(evalsOf(node, evals));

/** Returns the best known score of the position itself, without the lines of earlier positions. */
export const ownScore = (node: Node, evals: KnownEvals): score.KnownScore | undefined => score.ownScore(evalsOf(node, evals));

/** Whether the engine is to search a position that is on the board. There a line of an earlier position suffices if it is deeper. */
export const needsEngine = (node: Node, evals: KnownEvals): boolean => score.needsEngine(evalsOf(node, evals));

/** Whether the engine is to search a position for its own evaluation, for example for the report. */
export const needsOwnScore = (node: Node, evals: KnownEvals): boolean => score.needsEngine({ ...evalsOf(node, evals), earlier: undefined });

function evalsOf(node: Node, { databaseEvals, engineEvals, status }: KnownEvals): score.PositionEvals {
  return {
    ending: node.children.length > 0 ? undefined : ending(node.position),
    database: databaseEvals.get(node.fen),
    isUnreachable: status.fault !== undefined,
    pgn: node.notes.given,
    engine: engineEvals.get(node.fen),
    earlier: earlier(node, databaseEvals),
  };
}

function* earlier(node: Node, databaseEvals: KnownEvals["databaseEvals"]): Generator<score.EarlierPosition> {
  for (let at = node; at.parent && at.move; at = at.parent)
    yield { uci: uci(at.move), turn: at.parent.position.turn, database: databaseEvals.get(at.parent.fen) };
}
