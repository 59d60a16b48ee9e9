/** The best known score of a position. Only this file decides which source counts. */
import type { Evaluation, PositionEval } from "shelfish";
import { ending, type Node, uci } from "../game/game";
import { type Score, scoreText, winningChances } from "./score";

/** Source of a score; `line` is the line of an earlier position that led to this position. */
export type Origin = "rules" | "database" | "engine" | "pgn" | "line";

/** A score with its source. */
export interface KnownScore extends Score {
  origin: Origin;
  /** The score as text. */
  text: string;
  /** White's winning chances, from -1 to 1. */
  chances: number;
  depth?: number;
  /** Thousands of nodes. */
  knodes?: number;
  /** The best moves, in UCI. */
  line: readonly string[];
}

/** Evaluations by FEN. */
export interface KnownEvals {
  readonly databaseEvals: ReadonlyMap<string, PositionEval | null>;
  readonly engineEvals: ReadonlyMap<string, Evaluation>;
}

/** Returns the best known score of a position. */
export function bestScore(node: Node, evals: KnownEvals): KnownScore | undefined {
  return fromRules(node) ?? fromDatabase(node, evals) ?? fromPgn(node) ?? fromSearch(node, evals);
}

/** Returns the best known score of the position itself: lines of earlier positions do not count. */
export function ownScore(node: Node, evals: KnownEvals): KnownScore | undefined {
  const best = bestScore(node, evals);
  return best?.origin === "line" ? fromEngine(node, evals) : best;
}

/** Whether the search was so short that the score may be wrong. */
export const isShallow = ({ origin, depth, knodes }: Pick<KnownScore, "origin" | "depth" | "knodes">): boolean =>
  origin !== "rules" && ((depth !== undefined && depth < 16) || (knodes !== undefined && knodes < 100));

/** Orders scores from Black's best to White's best: a game that is over, then mates by their length, then centipawns. */
export function compareScores(a: KnownScore, b: KnownScore): number {
  const rank = ({ cp, mate, chances }: KnownScore) => (mate === undefined ? (cp ?? chances * 2e6) : mate > 0 ? 1e6 - mate : -1e6 - mate);
  return rank(a) - rank(b);
}

function fromRules(node: Node): KnownScore | undefined {
  if (node.children.length > 0) return undefined;
  const end = ending(node.position);
  return end && { origin: "rules", text: end.result, chances: end.winner === "white" ? 1 : end.winner === "black" ? -1 : 0, line: [] };
}

function fromDatabase(node: Node, { databaseEvals }: KnownEvals): KnownScore | undefined {
  return fromEvaluation("database", databaseEvals.get(node.fen)?.best);
}

function fromPgn({ notes: { given } }: Node): KnownScore | undefined {
  return given && { ...scored(given), origin: "pgn", depth: given.depth, line: [] };
}

/** The engine's score, or the line of an earlier position if its search was deeper. */
function fromSearch(node: Node, evals: KnownEvals): KnownScore | undefined {
  const [engine, line] = [fromEngine(node, evals), fromLine(node, evals)];
  return engine && line ? ((line.depth ?? 0) > (engine.depth ?? 0) ? line : engine) : (engine ?? line);
}

function fromEngine(node: Node, { engineEvals }: KnownEvals): KnownScore | undefined {
  return fromEvaluation("engine", engineEvals.get(node.fen));
}

function fromEvaluation(origin: Origin, evaluation: Evaluation | undefined): KnownScore | undefined {
  const pv = evaluation?.pvs[0];
  return pv && { ...scored(pv), origin, depth: evaluation.depth, knodes: evaluation.knodes, line: pv.uci };
}

/** Maximum distance in plies to the earlier position of a line. */
const MAX_DISTANCE = 60;

function fromLine(node: Node, { databaseEvals }: KnownEvals): KnownScore | undefined {
  const played: string[] = [];
  let at = node;
  while (at.parent && at.move && played.length < MAX_DISTANCE) {
    played.unshift(uci(at.move));
    at = at.parent;
    for (const { depth, knodes, pvs } of databaseEvals.get(at.fen)?.evaluations ?? []) {
      const pv = pvs.find((pv) => pv.uci.length >= played.length && played.every((move, index) => pv.uci[index] === move));
      if (pv) return { ...scored(scoreAfter(pv, played.length, at.position.turn)), origin: "line", depth, knodes, line: pv.uci.slice(played.length) };
    }
  }
  return undefined;
}

/** Returns the score after `plies` of its own line, which shorten the distance to mate. `turn` is the side that moves first. */
export function scoreAfter({ cp, mate }: Score, plies: number, turn: "white" | "black"): Score {
  if (mate === undefined) return { cp };
  // The side that mates in n moves needs 2n - 1 plies if it moves first, else 2n.
  const left = 2 * Math.abs(mate) - (mate > 0 === (turn === "white") ? 1 : 0) - plies;
  const moves = Math.max(1, Math.ceil(left / 2));
  return { mate: mate > 0 ? moves : -moves };
}

const scored = ({ cp, mate }: Score) => {
  const score = mate === undefined ? { cp: cp ?? 0 } : { mate };
  return { ...score, text: scoreText(score), chances: winningChances(score) };
};
