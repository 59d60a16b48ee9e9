// Open databases that the elements of a page share.

import type { openDatabase } from "../index.js";
import { Parts } from "../shared/parts.js";
import type { PlyScore } from "./line.js";

const databases = new Parts();

/**
 * Looks up positions: `null` if the database has no evaluation, `undefined` if the lookup failed or the game is over.
 * Rejects if all lookups fail.
 */
export async function lookupScores(
  database: string,
  fens: readonly string[],
  opener: () => Promise<typeof openDatabase>,
  signal: AbortSignal,
): Promise<(PlyScore | null | undefined)[]> {
  const url = database.replace(/\/$/, "/manifest.json");
  const opened = await databases.get(url, async () => (await opener())(url));
  const answers = await opened.lookupMany(fens, {
    signal,
    castling: "standard",
  });
  const failure = answers.find(
    (answer) =>
      answer instanceof Error && (answer as { code?: string }).code !== "over",
  );
  if (
    failure instanceof Error &&
    answers.every((answer) => answer instanceof Error)
  )
    throw failure;
  return answers.map((answer) => {
    if (answer instanceof Error) return undefined;
    if (!answer) return null;
    const [{ cp, mate, uci }] = answer.best.pvs;
    return {
      cp,
      mate,
      depth: answer.best.depth,
      best: uci[0],
      from: "database",
    };
  });
}
