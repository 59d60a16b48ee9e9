// Scores from White's point of view, and the best known score of a position. Only this file decides which evaluation counts: the
// evaluator and the site ask it.

import { shown, usage } from "./options.js";
import type {
  CallOptions,
  EndgameTables,
  Ending,
  Evaluation,
  EvaluationOrigin,
  PositionEval,
} from "./types.js";

export type { Ending };

/** A score: either centipawns or moves to mate. */
export interface ScoreLike {
  cp?: number | undefined;
  mate?: number | undefined;
}

/** Returns a score. Throws if the value is none, such as an answer without its `pvs[0]`. */
function checkedScore(call: string, score: ScoreLike) {
  const { cp = 0, mate } = score ?? {};
  if (Number.isFinite(mate ?? score?.cp)) return { cp, mate };
  throw usage(`${call}: expected { cp } or { mate }, found ${shown(score)}`);
}

/** Returns the score as text: `"+0.36"`, `"-1.20"`, `"0.00"`, `"#3"`, `"#-5"`. */
export function scoreText(score: ScoreLike): string {
  const { cp, mate } = checkedScore("scoreText", score);
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : cp < 0 ? "-" : ""}${(Math.abs(cp) / 100).toFixed(2)}`;
}

/**
 * Returns White's winning chances from -1 to 1, by the formula of Lichess. Centipawns are limited to ±1000. A mate is worth
 * ±1.
 */
export function winningChances(score: ScoreLike): number {
  const { cp, mate } = checkedScore("winningChances", score);
  if (mate !== undefined) return Math.sign(mate);
  return (
    2 / (1 + Math.exp(-0.00368208 * Math.max(-1000, Math.min(1000, cp)))) - 1
  );
}

/** Returns the score after `plies` of its line, which shorten the distance to mate. `turn` is the side that moves first. */
export function scoreAfter(
  score: ScoreLike,
  plies: number,
  turn: "white" | "black",
): ScoreLike {
  const { cp, mate } = checkedScore("scoreAfter", score);
  if (mate === undefined) return { cp };
  // The side that mates in n moves needs 2n - 1 plies if it moves first, else 2n.
  const left =
    2 * Math.abs(mate) - (mate > 0 === (turn === "white") ? 1 : 0) - plies;
  const moves = Math.max(1, Math.ceil(left / 2));
  return { mate: mate > 0 ? moves : -moves };
}

/** Centipawns of an ending that tables call won, as Stockfish shows them. */
const TABLE_WIN = 20_000;

/** Maximum number of pieces of endgame tables. */
export const MAX_TABLE_PIECES = 7;

/** Returns the number of pieces of a FEN. */
export const countPieces = (fen: string): number =>
  (/^\S*/.exec(fen.trim())![0].match(/[a-z]/gi) ?? []).length;

/** Returns the side that wins an ending. `undefined` for a draw, also by the 50-move rule. */
export function endingWinner({
  fen,
  outcome,
}: Pick<Ending, "fen" | "outcome">): "white" | "black" | undefined {
  const isWhite = fen.trim().split(/\s+/)[1] === "w";
  if (/^(maybe-)?win$/.test(outcome)) return isWhite ? "white" : "black";
  if (/^(maybe-)?loss$/.test(outcome)) return isWhite ? "black" : "white";
  return undefined;
}

/** Returns the score of an ending from White's point of view: centipawns, winning chances, and the result of best play as text. */
export function endingScore(ending: Pick<Ending, "fen" | "outcome">): {
  cp: number;
  chances: number;
  text: string;
} {
  const winner = endingWinner(ending);
  if (!winner) return { cp: 0, chances: 0, text: "½-½" };
  return winner === "white"
    ? { cp: TABLE_WIN, chances: 1, text: "1-0" }
    : { cp: -TABLE_WIN, chances: -1, text: "0-1" };
}

/** Asks endgame tables about positions with few pieces, and opens them only for such positions. The answers of other positions are `undefined`. */
export async function probe<Result extends Ending>(
  fens: readonly string[],
  open: () => Promise<EndgameTables<Result>>,
  options: CallOptions,
): Promise<(Result | Error | undefined)[]> {
  const few = (most: number) => fens.filter((fen) => countPieces(fen) <= most);
  if (few(MAX_TABLE_PIECES).length === 0) return [];
  const tables = await open();
  const asked = few(tables.maxPieces);
  const results = await tables.probeMany(asked, options);
  return fens.map((fen) => results[asked.indexOf(fen)]);
}

/** Origin of a score. `line`: the line of an earlier position that led to this position. */
export type Origin = EvaluationOrigin | "rules" | "pgn" | "line";

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
  ending?:
    { result: string; winner?: "white" | "black" | undefined } | undefined;
  /** The exact result of endgame tables. */
  endgames?: Ending | undefined;
  /** The answer of a database: `null` if it does not contain the position, `undefined` before the answer. */
  database?: PositionEval | null | undefined;
  /** Whether the database failed instead of answering. */
  isUnreachable?: boolean | undefined;
  /** The evaluation in a comment of a PGN. */
  pgn?: (ScoreLike & { depth?: number | undefined }) | undefined;
  /** The result of an engine. */
  engine?:
    | (Evaluation & {
        from?: EvaluationOrigin | undefined;
      })
    | undefined;
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

/** Depth and thousands of nodes of a search, if they are known, and whether it found a mate. */
export type Effort = Pick<KnownScore, "depth" | "knodes" | "mate">;

/**
 * Returns the best known score: by the rules, by endgame tables, or the evaluation that {@link countsOver} the others. The line of an earlier
 * position counts if it is deeper, except over a database or a PGN that is not shallow.
 */
export function bestScore(evals: PositionEvals): KnownScore | undefined {
  const own = ownScore(evals);
  const line = own && isFinal(own) ? undefined : fromLine(evals);
  return own && line
    ? (line.depth ?? 0) > (own.depth ?? 0)
      ? line
      : own
    : (own ?? line);
}

/** Returns the best known score of the position itself, without lines of earlier positions. */
export function ownScore({
  ending,
  endgames,
  database,
  pgn,
  engine,
}: PositionEvals): KnownScore | undefined {
  if (ending) {
    const chances =
      ending.winner === "white" ? 1 : ending.winner === "black" ? -1 : 0;
    return { origin: "rules", text: ending.result, chances, line: [] };
  }
  if (endgames) {
    const { cp, chances, text } = endingScore(endgames);
    return {
      origin: "endgames",
      cp,
      chances,
      text,
      line: endgames.moves.slice(0, 1).map(({ uci }) => uci),
    };
  }
  const known = [
    fromEvaluation("database", database ?? undefined),
    pgn && {
      ...scored(pgn),
      origin: "pgn" as const,
      depth: pgn.depth,
      line: [],
    },
    fromEvaluation(engine?.from ?? "engine", engine),
  ];
  return known.reduce((best, other) => counting(best, other), undefined);
}

/**
 * Whether an engine is to search the position. The database does not contain the position, has only a shallow evaluation, or
 * failed. Neither the rules nor a PGN evaluate it, and no line of an earlier position is deeper than the engine. Without
 * `earlier`, such lines do not count.
 */
export function needsEngine(evals: PositionEvals): boolean {
  const isAnswered =
    evals.database !== undefined || evals.isUnreachable === true;
  const own = ownScore({ ...evals, engine: undefined });
  if (!isAnswered || (own && isFinal(own))) return false;
  const best = bestScore(evals);
  return best?.origin !== "line" || isShallow(best);
}

/**
 * Whether an evaluation of a position counts, and not another evaluation: a deep search counts over a shallow search, then more
 * nodes, then more depth. The origin does not matter. The analysis of games has the same rule.
 */
export function countsOver(
  one: Effort | Evaluation,
  other: Effort | Evaluation,
): boolean {
  const rank = (known: Effort | Evaluation) => {
    const { depth, knodes } = known;
    const { mate } = "pvs" in known ? known.pvs[0] : known;
    return [
      isShallow({ depth, knodes, mate }) ? 0 : 1,
      knodes ?? -1,
      depth ?? -1,
    ];
  };
  const [first, second] = [rank(one), rank(other)];
  const difference = first
    .map((value, index) => value - second[index]!)
    .find((difference) => difference !== 0);
  return difference !== undefined && difference > 0;
}

/** Returns the evaluation of two that counts: the first, unless the second {@link countsOver} it. */
export const counting = <E extends Effort | Evaluation>(
  first: E | undefined,
  second: E | undefined,
): E | undefined =>
  first && !(second && countsOver(second, first)) ? first : second;

/** Returns the result of an engine that counts: the deeper result, then the result with more lines, then the newer result. */
export function deeperResult<E extends Evaluation>(
  known: E | undefined,
  found: E,
): E {
  const gain = known
    ? found.depth - known.depth || found.pvs.length - known.pvs.length
    : 0;
  return known && gain < 0 ? known : found;
}

/** Returns the deepest evaluation with so many variations, or else with the most variations. */
export const withLines = (
  { evaluations }: PositionEval,
  count: number,
): Evaluation =>
  evaluations.find(({ pvs }) => pvs.length >= count) ??
  evaluations.reduce((one, other) =>
    other.pvs.length > one.pvs.length ? other : one,
  );

/** Depth in plies below which a search is shallow. */
const MIN_DEPTH = 16;

/** Thousands of nodes below which a search is shallow. */
const MIN_KNODES = 100;

/** Whether the search was so short that the score is only a hint. Unknown depths and nodes are not short, and a mate is no hint. */
export const isShallow = ({
  origin,
  mate,
  depth = MIN_DEPTH,
  knodes = MIN_KNODES,
}: Effort & { origin?: Origin | undefined }): boolean =>
  origin !== "rules" &&
  origin !== "endgames" &&
  mate === undefined &&
  (depth < MIN_DEPTH || knodes < MIN_KNODES);

/** Whether no engine needs to search the position again. */
const isFinal = (own: KnownScore): boolean =>
  own.origin === "rules" ||
  own.origin === "endgames" ||
  ((own.origin === "database" || own.origin === "pgn") && !isShallow(own));

function fromEvaluation(
  origin: Origin,
  evaluation: Evaluation | undefined,
): KnownScore | undefined {
  const pv = evaluation?.pvs[0];
  return (
    pv && {
      ...scored(pv),
      origin,
      depth: evaluation.depth,
      knodes: evaluation.knodes,
      line: pv.uci,
    }
  );
}

/** Maximum distance in plies to the earlier position of a line. */
const MAX_DISTANCE = 60;

function fromLine({ earlier = [] }: PositionEvals): KnownScore | undefined {
  const played: string[] = [];
  for (const { uci, turn, database } of earlier) {
    if (played.length === MAX_DISTANCE) break;
    played.unshift(uci);
    for (const { depth, knodes, pvs } of database?.evaluations ?? []) {
      const pv = pvs.find(
        (pv) =>
          pv.uci.length >= played.length &&
          played.every((move, index) => pv.uci[index] === move),
      );
      if (pv)
        return {
          ...scored(scoreAfter(pv, played.length, turn)),
          origin: "line",
          depth,
          knodes,
          line: pv.uci.slice(played.length),
        };
    }
  }
  return undefined;
}

const scored = ({ cp, mate }: ScoreLike) => {
  const score = mate === undefined ? { cp: cp ?? 0 } : { mate };
  return { ...score, text: scoreText(score), chances: winningChances(score) };
};
