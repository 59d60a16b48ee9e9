/** Reads the games of a player in a Worker. */
import type { Color } from "chessops/types";
import type { PlayedGame } from "../sites/played-game";
import type { Repertoire } from "./repertoire";

/** A game for the Worker. */
export type GameToRead = Pick<PlayedGame, "pgn" | "result"> & { side: Color };

/** The repertoires of a player. */
export interface Repertoires {
  white: Repertoire;
  black: Repertoire;
  /** Number of games from other start positions, and of games that cannot be read. */
  leftOut: number;
}

/** A message of the Worker: the number of games that were read, or the result. */
export type ReaderMessage = { done: number } | { repertoires: Repertoires };

/** Reads games. `progress` receives the number of games that were read. Throws the signal's reason if the signal is aborted. */
export async function readGames(
  games: readonly GameToRead[],
  progress: (done: number) => void,
  signal: AbortSignal,
): Promise<Repertoires> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./reader.ts", import.meta.url), {
    type: "module",
  });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), {
        once: true,
      });
      worker.addEventListener("error", ({ message }) =>
        reject(new Error(message || "the Worker cannot be loaded")),
      );
      worker.addEventListener(
        "message",
        ({ data }: MessageEvent<ReaderMessage>) => {
          if ("done" in data) progress(data.done);
          else resolve(data.repertoires);
        },
      );
      worker.postMessage(games);
    });
  } finally {
    worker.terminate();
  }
}
