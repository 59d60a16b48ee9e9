/** The challenge of Unprecedented: moves that are not in the book, against the engine, without being worse than −1. */
import { scoreText, type ScoreLike } from "shelfish/score";
import { movesOf, type Node, path, type Step, steps } from "../game/game";
import { loadOnce } from "../loading/load-once";
import { centipawnsFor } from "../score/score";
import { readObject, writeString } from "../storage/local-storage";
import { plural } from "../text/units";

/** Nodes of the engine for each position. */
const NODES = 150_000;
/** Centipawns from the player's point of view below which the challenge ends. */
const LOST = -100;
const KEY = "unprecedented";

/** The engine's answer to a move of the player. */
export interface Reply {
  /** The engine's move; `undefined` if the challenge ends. */
  step: Step | undefined;
  /** Score of the position after the player's move, from White's point of view. */
  score: ScoreLike;
  depth: number;
}

/** Whether the score ends the challenge of a side. */
const isLost = (side: "white" | "black", score: ScoreLike): boolean =>
  centipawnsFor(side, score) < LOST;

/** The engine of the challenge, and the best result. */
export class Challenge {
  readonly #load = loadOnce(async () =>
    (await import("shelfish/engine")).openEngine(),
  );

  /** Returns the largest number of moves in this browser. */
  get best(): number {
    const { best } = readObject(KEY);
    return typeof best === "number" && Number.isSafeInteger(best) && best > 0
      ? best
      : 0;
  }

  /** Stores the number of moves if it is the largest number. Returns whether it is. */
  record(moves: number): boolean {
    if (moves <= this.best) return false;
    writeString(KEY, JSON.stringify({ best: moves }));
    return true;
  }

  /** Evaluates the position after a move of the player, and returns the engine's move unless the player is lost. */
  async reply(
    node: Node,
    player: "white" | "black",
    signal: AbortSignal,
  ): Promise<Reply> {
    const engine = await this.#load();
    signal.throwIfAborted();
    const line = path(node);
    const { depth, pvs } = await engine.analyse(line[0]?.fen ?? node.fen, {
      moves: movesOf(line),
      nodes: NODES,
      signal,
      castling: "chess960",
    });
    const [best] = pvs;
    const [step] = steps(node.position, best.uci.slice(0, 1));
    return {
      step: isLost(player, best) ? undefined : step,
      score: best,
      depth,
    };
  }
}

/** Says how the challenge goes, before a move of the player. */
export function challengeText(
  moves: number,
  best: number,
  reply: Reply | undefined,
): string {
  const sofar =
    moves === 0
      ? "Leave this book, and stay above −1."
      : `${plural(moves, "move")} so far.`;
  const score = reply
    ? ` ${scoreText(reply.score)} by the engine, depth ${reply.depth}.`
    : "";
  return `${sofar}${score}${best > 0 ? ` Your best: ${best}.` : ""}`;
}

/** Says how the challenge ended. `san` is the last move of the player. */
export function challengeEnd(
  san: string,
  moves: number,
  isBest: boolean,
  reply: Reply,
): { title: string; text: string } {
  const title = `${plural(moves, "move")} outside of this book${isBest ? ": your best" : ""}.`;
  return {
    title,
    text: `${san} is too much: ${scoreText(reply.score)} by the engine, depth ${reply.depth}. The challenge ends below −1 for you.`,
  };
}
