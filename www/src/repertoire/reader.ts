/** The Worker that reads games into repertoires. */
import type { Analysis } from "shelfish/analysis";
import { CASTLING, mainLine } from "../game/read-pgn";
import { analysis } from "../loading/loading";
import type { GameToRead, ReaderMessage } from "./preparation";
import { RepertoireBuilder } from "./repertoire";

/** Milliseconds between two messages about the progress. */
const INTERVAL = 100;

const answer = (message: ReaderMessage) => postMessage(message);

addEventListener(
  "message",
  ({ data }: MessageEvent<readonly GameToRead[]>) => void read(data),
);

async function read(data: readonly GameToRead[]): Promise<void> {
  const reader = await analysis();
  const builder = new RepertoireBuilder();
  let leftOut = 0;
  let next = performance.now() + INTERVAL;
  for (const [number, { pgn, side, result }] of data.entries()) {
    if (!added(reader, builder, number, side, result, pgn)) leftOut++;
    if (performance.now() < next) continue;
    answer({ done: number + 1 });
    next = performance.now() + INTERVAL;
  }
  const { white, black } = builder;
  answer({ repertoires: { white, black, leftOut } });
}

/** Adds the first game of a PGN. Returns false if the game cannot be read or has another start position. */
function added(
  reader: Analysis,
  builder: RepertoireBuilder,
  number: number,
  side: GameToRead["side"],
  result: GameToRead["result"],
  pgn: string,
): boolean {
  try {
    const game = reader.read(pgn, CASTLING);
    if (game.error !== null) return false;
    const { start, moves } = mainLine(game);
    return builder.add(number, side, result, start, moves);
  } catch (error) {
    // The text has no game, or it begins at an odd position.
    if (error instanceof Error) return false;
    throw error;
  }
}
