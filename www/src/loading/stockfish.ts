/** Stockfish, which judges the moves of a game. The build of the site adds it: see build/stockfish.ts. */
import type { UciEngine } from "shelfish/engine";

/** Name and version, as the report shows them. */
export const STOCKFISH = "Stockfish 19 lite";

/** URL of its script, if the build added it. */
const SCRIPT = import.meta.env.VITE_STOCKFISH;

/** Number of its Workers. Each has a module and a transposition table of 16 MiB. */
const WORKERS = 2;

/** A module with an instruction of SIMD, which Stockfish needs. */
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8,
  0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Whether the site has Stockfish, the browser can run it, and the visitor does not save data. */
export const hasStockfish = (): boolean =>
  SCRIPT !== undefined &&
  !(navigator as { connection?: { saveData?: boolean } }).connection
    ?.saveData &&
  WebAssembly.validate(SIMD);

/** Opens Stockfish. Its files load with its first search. */
export async function openStockfish(): Promise<UciEngine> {
  const { openUciEngine } = await import("shelfish/engine");
  return openUciEngine({
    name: STOCKFISH,
    workers: WORKERS,
    options: { Hash: 16 },
    worker: () => new Worker(new URL(SCRIPT!, document.baseURI)),
  });
}
