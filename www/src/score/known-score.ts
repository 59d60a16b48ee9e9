/** The best that is known of a position, and where it is from: the one place where sources are weighed. */
import type { Eval, Evaluation } from "shelfish";
import { ending, type Node, uci } from "../game/game";
import { advantage, type Score, written } from "./score";

/** Where a score is from; `line`: from the line of an earlier position, which led here. */
export type Source = "rules" | "database" | "engine" | "pgn" | "line";

/** A score and what it rests on. */
export interface Knowledge extends Score {
  source: Source;
  /** The score as people write it. */
  text: string;
  /** White's expected advantage, from -1 to 1. */
  share: number;
  depth?: number;
  /** Thousands of nodes. */
  knodes?: number;
  /** How the game should go on, in UCI. */
  line: readonly string[];
}

/** What was said of positions, by FEN. */
export interface Said {
  /** By the database. */
  readonly answers: ReadonlyMap<string, Eval | null>;
  /** By the engine. */
  readonly found: ReadonlyMap<string, Evaluation>;
}

/** The sources, best first. */
const SOURCES: readonly ((node: Node, said: Said) => Knowledge | undefined)[] = [fromRules, fromDatabase, fromPgn, fromSearch];

/** The best that is known of a position; undefined if nothing is. */
export function bestKnown(node: Node, said: Said): Knowledge | undefined {
  for (const source of SOURCES) {
    const known = source(node, said);
    if (known) return known;
  }
  return undefined;
}

/** The best that is known of a position itself, and not of an earlier one. */
export function ownKnown(node: Node, said: Said): Knowledge | undefined {
  const known = bestKnown(node, said);
  return known?.source === "line" ? fromEngine(node, said) : known;
}

/** Whether so little was searched that the score may well be wrong. */
export const isShallow = ({ source, depth, knodes }: Knowledge): boolean =>
  source !== "rules" && ((depth !== undefined && depth < 16) || (knodes !== undefined && knodes < 100));

function fromRules(node: Node): Knowledge | undefined {
  if (node.children.length > 0) return undefined;
  const end = ending(node.position);
  return end && { source: "rules", text: end.result, share: end.winner === "white" ? 1 : end.winner === "black" ? -1 : 0, line: [] };
}

function fromDatabase(node: Node, { answers }: Said): Knowledge | undefined {
  const best = answers.get(node.fen)?.best;
  const pv = best?.pvs[0];
  return pv && { ...weighed(pv), source: "database", depth: best.depth, knodes: best.knodes, line: pv.uci };
}

function fromPgn(node: Node): Knowledge | undefined {
  const { given } = node.notes;
  return given && { ...weighed(given), source: "pgn", depth: given.depth, line: [] };
}

/** The engine's, or the line of an earlier position if that was searched deeper. */
function fromSearch(node: Node, said: Said): Knowledge | undefined {
  const [engine, line] = [fromEngine(node, said), fromLine(node, said)];
  return engine && line ? ((line.depth ?? 0) > (engine.depth ?? 0) ? line : engine) : (engine ?? line);
}

function fromEngine(node: Node, { found }: Said): Knowledge | undefined {
  const best = found.get(node.fen);
  const pv = best?.pvs[0];
  return pv && { ...weighed(pv), source: "engine", depth: best.depth, knodes: best.knodes, line: pv.uci };
}

/** How many plies up a line is looked for. */
const FURTHEST = 60;

function fromLine(node: Node, { answers }: Said): Knowledge | undefined {
  const played: string[] = [];
  let at = node;
  while (at.parent && at.move && played.length < FURTHEST) {
    played.unshift(uci(at.move));
    at = at.parent;
    for (const { depth, knodes, pvs } of answers.get(at.fen)?.evaluations ?? []) {
      const pv = pvs.find((pv) => pv.uci.length >= played.length && played.every((move, index) => pv.uci[index] === move));
      if (pv) return { ...weighed(later(pv, played.length, at.position.turn)), source: "line", depth, knodes, line: pv.uci.slice(played.length) };
    }
  }
  return undefined;
}

/** A score after `plies` of its own line: a mate has come nearer. `turn` is the side that moves first. */
export function later({ cp, mate }: Score, plies: number, turn: "white" | "black"): Score {
  if (mate === undefined) return { cp };
  // The side that mates in n moves needs 2n - 1 plies if it moves first, else 2n.
  const left = 2 * Math.abs(mate) - (mate > 0 === (turn === "white") ? 1 : 0) - plies;
  const moves = Math.max(1, Math.ceil(left / 2));
  return { mate: mate > 0 ? moves : -moves };
}

const weighed = ({ cp, mate }: Score) => {
  const score = mate === undefined ? { cp: cp ?? 0 } : { mate };
  return { ...score, text: written(score), share: advantage(score) };
};
