/** The Worker that reads games into repertoires. */
import { readMoves } from "../pgn/read-game";
import { split } from "../pgn/split";
import { InputError } from "../text/input-error";
import type { GameToRead, ReaderMessage } from "./preparation";
import { RepertoireBuilder } from "./repertoire";

/** Milliseconds between two messages about the progress. */
const INTERVAL = 100;

const answer = (message: ReaderMessage) => postMessage(message);

addEventListener("message", ({ data }: MessageEvent<readonly GameToRead[]>) => {
  const builder = new RepertoireBuilder();
  let leftOut = 0;
  let next = performance.now() + INTERVAL;
  for (const [number, { pgn, side, result }] of data.entries()) {
    if (!added(builder, number, side, result, pgn)) leftOut++;
    if (performance.now() < next) continue;
    answer({ done: number + 1 });
    next = performance.now() + INTERVAL;
  }
  const { white, black } = builder;
  answer({ repertoires: { white, black, leftOut } });
});

/** Adds the first game of a PGN. Returns false if the game cannot be read or has another start position. */
function added(
  builder: RepertoireBuilder,
  number: number,
  side: GameToRead["side"],
  result: GameToRead["result"],
  pgn: string,
): boolean {
  const [source] = split(pgn);
  if (!source) return false;
  try {
    const { start, moves } = readMoves(source);
    return builder.add(number, side, result, start, moves);
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}
