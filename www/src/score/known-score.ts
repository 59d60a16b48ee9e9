/** Collects the evaluations of a position of the game. The package chooses the best evaluation. It also decides whether the engine searches. */
import * as score from "../../../crate/js/shared/score.ts";
import type { PositionEval } from "shelfish";
import type { Evaluated } from "shelfish/engine";
import { ending, type Node, type Step, steps, uci } from "../game/game";
import type { ScoreLike } from "../../../crate/js/shared/score.ts";

export {
  isShallow,
  type KnownScore,
  type Origin,
} from "../../../crate/js/shared/score.ts";

/** Evaluations by FEN, and whether the database fails. */
interface KnownEvals {
  readonly databaseEvals: ReadonlyMap<string, PositionEval | null>;
  /** Results of endgame tables. */
  readonly endgameEvals: ReadonlyMap<string, score.Ending>;
  /** Evaluations by the search of the position on the board. */
  readonly engineEvals: ReadonlyMap<string, Evaluated>;
  /** Evaluations by the engine in the analysis of the game. */
  readonly gameEvals: ReadonlyMap<string, Evaluated>;
  readonly status: { readonly error?: unknown };
}

/** Returns the best known score of a position, which the whole page shows. A result of endgame tables has words, unlike the result of a game. */
export function bestScore(
  node: Node,
  evals: KnownEvals,
): score.KnownScore | undefined {
  const known = score.bestScore(evalsOf(node, evals));
  if (known?.origin !== "endgames") return known;
  const winner = known.chances > 0 ? "White" : "Black";
  return { ...known, text: known.chances === 0 ? "Draw" : `${winner} wins` };
}

/** Returns the line of the best known score of a position. */
export const knownLine = (node: Node, evals: KnownEvals): Step[] =>
  steps(node.position, bestScore(node, evals)?.line ?? []);

/** Returns a best move with the moves after it, if they are known. Castling has two notations in UCI, and one in SAN. */
export function bestLine(node: Node, best: Step, evals: KnownEvals): Step[] {
  const known = knownLine(node, evals);
  return known[0]?.san === best.san ? known : [best];
}

/** Returns the score of an answer of the database; `undefined` if the database does not have the position. */
export const scoreOfAnswer = (
  database: PositionEval | null,
): score.KnownScore | undefined => score.ownScore({ database });

/** Whether the engine is to search a position that is on the board. There a deeper line of an earlier position suffices, or Stockfish's evaluation. */
export function needsEngine(node: Node, evals: KnownEvals): boolean {
  const known = engineEval(node.fen, evals);
  const isJudged =
    known?.from === "stockfish" &&
    !score.isShallow({ ...known, mate: known.pvs[0].mate });
  return !isJudged && score.needsEngine(evalsOf(node, evals));
}

/** Whether a result of an engine replaces another result: it must have more nodes, and not less depth. */
export const replacesEval = (
  found: Evaluated,
  known: Evaluated | undefined,
): boolean =>
  !known || (score.countsOver(found, known) && found.depth >= known.depth);

/** Returns the engine's evaluation of a position that counts: by the analysis of the game, unless the search of the board replaces it. */
export function engineEval(
  fen: string,
  { engineEvals, gameEvals }: KnownEvals,
): Evaluated | undefined {
  const [found, known] = [engineEvals.get(fen), gameEvals.get(fen)];
  return found && replacesEval(found, known) ? found : known;
}

function evalsOf(node: Node, evals: KnownEvals): score.PositionEvals {
  const { databaseEvals, status } = evals;
  return {
    ending: node.children.length > 0 ? undefined : ending(node.position),
    endgames: evals.endgameEvals.get(node.fen),
    database: databaseEvals.get(node.fen),
    isUnreachable: status.error !== undefined,
    pgn: node.notes.given,
    engine: engineEval(node.fen, evals),
    earlier: earlier(node, databaseEvals),
  };
}

function* earlier(
  node: Node,
  databaseEvals: KnownEvals["databaseEvals"],
): Generator<score.EarlierPosition> {
  for (let at = node; at.parent && at.move; at = at.parent)
    yield {
      uci: uci(at.move),
      turn: at.parent.position.turn,
      database: databaseEvals.get(at.parent.fen),
    };
}

/** Winning chances, from −1 to 1, whose loss makes a move an inaccuracy. A move that loses less is a good answer to a question. */
export const INACCURACY = 0.1;

/** Returns a score in words, for screen readers. */
export function scoreInWords({ cp = 0, mate }: ScoreLike): string {
  if (mate !== undefined)
    return `${mate > 0 ? "White" : "Black"} mates in ${Math.abs(mate)}`;
  if (cp === 0) return "Equal";
  return `${cp > 0 ? "White" : "Black"} is better by ${(Math.abs(cp) / 100).toFixed(2)}`;
}

/** Formats thousands of nodes: "575 kn", "12.3 Mn", "4.5 Gn". */
export function nodesText(knodes: number): string {
  if (knodes < 1000) return `${knodes} kn`;
  const mega = knodes / 1000;
  return mega < 1000
    ? `${mega < 10 ? mega.toFixed(1) : Math.round(mega)} Mn`
    : `${(mega / 1000).toFixed(1)} Gn`;
}
