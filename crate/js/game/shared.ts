// Databases that the elements of a page share: each is opened once.

import type { Database, openDatabase } from "../index.js";
import type { Known } from "./line.js";

type Opener = typeof openDatabase;

const databases = new Map<string, Promise<Database>>();

/**
 * Evaluations of positions: `null` where the database has none, `undefined` where it could not be read or the game is over.
 * Rejects if it cannot be read at all.
 */
export async function evaluate(named: string, fens: readonly string[], opener: () => Promise<Opener>, signal: AbortSignal): Promise<(Known | null | undefined)[]> {
  const url = named.replace(/\/$/, "/manifest.json");
  let opening = databases.get(url);
  if (!opening) {
    opening = opener().then((openDatabase) => openDatabase(url));
    databases.set(url, opening);
    // The next element tries again.
    opening.catch(() => databases.delete(url));
  }
  const database = await opening;
  const answers = await database.lookupMany(fens, { signal, castling: "standard" });
  const failure = answers.find((answer) => answer instanceof Error && (answer as { code?: string }).code !== "over");
  if (failure instanceof Error && answers.every((answer) => answer instanceof Error)) throw failure;
  return answers.map((answer) => {
    if (answer instanceof Error) return undefined;
    if (!answer) return null;
    const [{ cp, mate, uci }] = answer.best.pvs;
    return { cp, mate, depth: answer.best.depth, best: uci[0], from: "database" };
  });
}
