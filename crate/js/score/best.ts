// The best known score of a position, and whether an engine searches the position. Only this file decides which evaluation
// counts: the evaluator and the site ask it.

import type { Evaluation, PositionEval } from "../shared/types.js";
import { type ScoreLike, scoreAfter, scoreText, winningChances } from "./score.js";

/** Origin of a score. `line`: the line of an earlier position that led to this position. */
export type Origin = "rules" | "database" | "pgn" | "engine" | "stockfish" | "line";

/** A score and its origin. */
export interface KnownScore extends ScoreLike {
  origin: Origin;
  /** The score as text, or the result of the game. */
  text: string;
  /** White's winning chances, from -1 to 1. */
  chances: number;
  depth?: number | undefined;
  /** Thousands of nodes. */
  knodes?: number | undefined;
  /** The best moves, in UCI. */
  line: readonly string[];
}

/** All known evaluations of a position, by origin. */
export interface PositionEvals {
  /** The end of the game, if the game ends in this position. */
  ending?: { result: string; winner?: "white" | "black" | undefined } | undefined;
  /** The answer of a database: `null` if it does not contain the position, `undefined` before the answer. */
  database?: PositionEval | null | undefined;
  /** Whether the database failed instead of answering. */
  isUnreachable?: boolean | undefined;
  /** The evaluation in a comment of a PGN. */
  pgn?: (ScoreLike & { depth?: number | undefined }) | undefined;
  /** The result of an engine. */
  engine?: (Evaluation & { from?: "engine" | "stockfish" | "database" | undefined }) | undefined;
  /** Earlier positions of the game, the previous position first. Read only if no better origin has a score. */
  earlier?: Iterable<EarlierPosition> | undefined;
}

/** An earlier position of a game. */
export interface EarlierPosition {
  /** The move that was played, in the notation of the database's lines. */
  uci: string;
  /** The side to move. */
  turn: "white" | "black";
  /** The answer of a database. */
  database?: PositionEval | null | undefined;
}

/** Returns the best known score: by the rules, a database, a PGN, or the deeper of an engine and an earlier line. */
export function bestScore(evals: PositionEvals): KnownScore | undefined {
  return exactScore(evals) ?? deeper(fromEngine(evals), fromLine(evals));
}

/** Returns the best known score of the position itself, without lines of earlier positions that are deeper. */
export function ownScore(evals: PositionEvals): KnownScore | undefined {
  const best = bestScore(evals);
  return best?.origin === "line" ? fromEngine(evals) : best;
}

/**
 * Whether an engine is to search the position. The database does not contain the position, or failed. Neither the rules nor a PGN
 * evaluate it, and no line of an earlier position is deeper than the engine. Without `earlier`, such lines do not count.
 */
export function needsEngine(evals: PositionEvals): boolean {
  const isAnswered = evals.database !== undefined || evals.isUnreachable === true;
  return isAnswered && !exactScore(evals) && bestScore(evals)?.origin !== "line";
}

/** Returns the result of an engine that counts: the deeper result, then the result with more lines, then the newer result. */
export function deeperResult<E extends Evaluation>(known: E | undefined, found: E): E {
  const gain = known ? found.depth - known.depth || found.pvs.length - known.pvs.length : 0;
  return known && gain < 0 ? known : found;
}

/** Whether the search was so short that the score may be wrong. */
export const isShallow = ({ origin, depth, knodes }: Pick<KnownScore, "origin" | "depth" | "knodes">): boolean =>
  origin !== "rules" && ((depth !== undefined && depth < 16) || (knodes !== undefined && knodes < 100));

/** Compares scores: from Black's best to White's best, by the result of the game, then mates by length, then centipawns. */
export function compareScores(a: KnownScore, b: KnownScore): number {
  const rank = ({ cp, mate, chances }: KnownScore) => (mate === undefined ? (cp ?? chances * 2e6) : mate > 0 ? 1e6 - mate : -1e6 - mate);
  return rank(a) - rank(b);
}

function exactScore({ ending, database, pgn }: PositionEvals): KnownScore | undefined {
  if (ending) {
    const chances = ending.winner === "white" ? 1 : ending.winner === "black" ? -1 : 0;
    return { origin: "rules", text: ending.result, chances, line: [] };
  }
  return fromEvaluation("database", database?.best) ?? (pgn && { ...scored(pgn), origin: "pgn", depth: pgn.depth, line: [] });
}

const deeper = (engine: KnownScore | undefined, line: KnownScore | undefined) =>
  engine && line ? ((line.depth ?? 0) > (engine.depth ?? 0) ? line : engine) : (engine ?? line);

const fromEngine = ({ engine }: PositionEvals) => fromEvaluation(engine?.from ?? "engine", engine);

function fromEvaluation(origin: Origin, evaluation: Evaluation | undefined): KnownScore | undefined {
  const pv = evaluation?.pvs[0];
  return pv && { ...scored(pv), origin, depth: evaluation.depth, knodes: evaluation.knodes, line: pv.uci };
}

/** Maximum distance in plies to the earlier position of a line. */
const MAX_DISTANCE = 60;

function fromLine({ earlier = [] }: PositionEvals): KnownScore | undefined {
  const played: string[] = [];
  for (const { uci, turn, database } of earlier) {
    if (played.length === MAX_DISTANCE) break;
    played.unshift(uci);
    for (const { depth, knodes, pvs } of database?.evaluations ?? []) {
      const pv = pvs.find((pv) => pv.uci.length >= played.length && played.every((move, index) => pv.uci[index] === move));
      if (pv) return { ...scored(scoreAfter(pv, played.length, turn)), origin: "line", depth, knodes, line: pv.uci.slice(played.length) };
    }
  }
  return undefined;
}

const scored = ({ cp, mate }: ScoreLike) => {
  const score = mate === undefined ? { cp: cp ?? 0 } : { mate };
  return { ...score, text: scoreText(score), chances: winningChances(score) };
};
