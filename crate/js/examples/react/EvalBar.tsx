// A bar for the evaluation of a position.

import { type UseEvaluationOptions, useEvaluation } from "shelfish/react";
import { winningChances } from "shelfish";

/** Shows the evaluation by the database, or by the engine if the database lacks the position. */
export function EvalBar({
  fen,
  ...options
}: { fen: string } & UseEvaluationOptions) {
  const { value, isLoading, error } = useEvaluation(fen, options);
  const pv = value?.pvs[0];
  const share = pv ? 50 + 50 * winningChances(pv) : 50;
  const words =
    error?.message ??
    pv?.score ??
    (value === null ? "not in the database" : "…");
  return (
    <div
      role="meter"
      aria-label="Evaluation"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share)}
      aria-valuetext={words}
      aria-busy={isLoading}
      style={{ width: "12em", background: "#333" }}
    >
      <div
        style={{ width: `${share}%`, background: "#eee", whiteSpace: "nowrap" }}
      >
        {words}
      </div>
    </div>
  );
}
