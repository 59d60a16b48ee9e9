// Messages of UCI.

import type { EngineEvaluation, Evaluation, Pv } from "../shared/types.js";

/** An evaluation of any origin. */
export type Found = Evaluation &
  Partial<Pick<EngineEvaluation, "deepest" | "nodes" | "milliseconds">>;

/** Whether White is to move in a position. */
export const isWhite = (fen: string) => fen.split(" ")[1] === "w";

/** Formats a score from the point of view of the side to move. */
function score(fen: string, { cp, mate }: Pick<Pv, "cp" | "mate">): string {
  const sign = isWhite(fen) ? 1 : -1;
  // Adds 0, because -1 * 0 is -0.
  return mate === undefined
    ? `cp ${sign * (cp ?? 0) + 0}`
    : `mate ${sign * mate}`;
}

/** Formats an evaluation as `info` messages, at most `lines`. */
export function infos(
  fen: string,
  {
    depth,
    knodes,
    pvs,
    deepest = depth,
    nodes = knodes * 1000,
    milliseconds,
  }: Found,
  lines: number,
  tableHits = 0,
): string[] {
  return pvs.slice(0, lines).map((pv, index) => {
    const time = milliseconds === undefined ? 0 : Math.round(milliseconds);
    const speed = milliseconds
      ? ` nps ${Math.round((nodes * 1000) / Math.max(milliseconds, 1))}`
      : "";
    const hits = tableHits ? ` tbhits ${tableHits}` : "";
    return `info depth ${depth} seldepth ${deepest} multipv ${index + 1} score ${score(fen, pv)} nodes ${nodes}${speed}${hits} time ${time} pv ${pv.uci.join(" ")}`;
  });
}

/** Formats the best move and the expected reply. The best move is `(none)` if the position has no legal move. */
export const bestMove = ([best, reply]: readonly string[] = []): string =>
  `bestmove ${best ?? "(none)"}${reply ? ` ponder ${reply}` : ""}`;
