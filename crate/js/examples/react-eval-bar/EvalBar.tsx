// The evaluation of a position as a bar, and the hooks that it stands on.

import { useEffect, useState } from "react";
import { type Database, openDatabase, type PositionEval, ShelfishError } from "shelfish/inline";

/** An open database, or `undefined` until it is; closed with the component. */
export function useDatabase(url: string): Database | undefined {
  const [database, setDatabase] = useState<Database>();
  useEffect(() => {
    const abort = new AbortController();
    const opening = openDatabase(url, { signal: abort.signal });
    opening.then(setDatabase, (error: ShelfishError) => error.code !== "aborted" && console.error(error));
    return () => {
      abort.abort();
      setDatabase(undefined);
      opening.then((database) => database.close(), () => {});
    };
  }, [url]);
  return database;
}

export type Answer = { fen: string; found?: PositionEval | null; error?: ShelfishError };

/** What the database has of a position; a lookup that the next position overtakes is aborted. */
export function useEval(database: Database | undefined, fen: string): Answer {
  const [answer, setAnswer] = useState<Answer>({ fen });
  useEffect(() => {
    if (!database) return;
    const abort = new AbortController();
    database.lookup(fen, { signal: abort.signal }).then(
      (found) => abort.signal.aborted || setAnswer({ fen, found }),
      (error: ShelfishError) => abort.signal.aborted || setAnswer({ fen, error }),
    );
    return () => abort.abort();
  }, [database, fen]);
  // Never the last position's.
  return answer.fen === fen ? answer : { fen };
}

/** White's share of the bar in percent: what players of Lichess score from such an advantage. */
function share({ best: { pvs: [{ cp, mate }] } }: PositionEval): number {
  if (mate !== undefined) return mate > 0 ? 100 : 0;
  return 100 / (1 + Math.exp(-0.00368208 * cp));
}

export function EvalBar({ database, fen }: { database: Database | undefined; fen: string }) {
  const { found, error } = useEval(database, fen);
  const score = found?.best.pvs[0].score;
  const words = error?.message ?? score ?? (found === null ? "not in the database" : "…");
  return (
    <div
      role="meter"
      aria-label="Evaluation"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(found ? share(found) : 50)}
      aria-valuetext={words}
      aria-busy={found === undefined && !error}
      style={{ width: "12em", background: "#333" }}
    >
      <div style={{ width: `${found ? share(found) : 50}%`, background: "#eee", whiteSpace: "nowrap" }}>{words}</div>
    </div>
  );
}
