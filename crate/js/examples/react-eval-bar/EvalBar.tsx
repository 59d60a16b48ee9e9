// A bar for the evaluation of a position, and its hooks.

import { useEffect, useState } from "react";
import { type Database, openDatabase, type PositionEval, ShelfishError } from "shelfish/inline";
import { winningChances } from "shelfish/score";

/** Returns the database, or `undefined` until it is open. Closes it with the component. */
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

/** Looks up a position. Aborts the lookup if the position changes. */
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
  // Not the answer of the last position.
  return answer.fen === fen ? answer : { fen };
}

/** Returns White's share of the bar, in percent. */
const share = ({ best: { pvs: [pv] } }: PositionEval): number => 50 + 50 * winningChances(pv);

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
