/** Looks up many positions in the evaluation database, in batches. */
import type { DatabaseClient } from "../database/client";
import { type KnownScore, scoreOfAnswer } from "../score/known-score";

/** Number of positions of a call. A larger batch shares more requests; a smaller batch shows its progress sooner. */
const BATCH = 256;

/** Maximum number of bytes that the lookups of a player's positions receive. */
export const MAX_BYTES = 5_000_000;

/** Cost of lookups. */
export interface Spent {
  requests: number;
  bytes: number;
}

/** Scores of some positions. */
interface Batch {
  scores: (readonly [key: string, score: KnownScore | undefined])[];
  /** Number of positions that were looked up. */
  count: number;
  cost: Spent;
}

/**
 * Yields the scores of positions in batches, with the cost of each batch. Positions whose lookup failed are left out. Ends before `keys` ends
 * if the next batch could exceed `maximum` bytes: the costliest batch so far is the estimate. Throws the error of
 * the database, or the signal's reason if the signal is aborted.
 */
export async function* lookUp(
  client: Pick<DatabaseClient, "lookupMany">,
  keys: readonly string[],
  signal: AbortSignal,
  maximum = Infinity,
): AsyncGenerator<Batch> {
  let [received, costliest] = [0, 0];
  for (let at = 0; at < keys.length; at += BATCH) {
    if (received + costliest > maximum) return;
    const batch = keys.slice(at, at + BATCH);
    const { answers, cost } = await client.lookupMany(batch, signal);
    signal.throwIfAborted();
    received += cost.bytes;
    costliest = Math.max(costliest, cost.bytes);
    yield {
      scores: answers.map(
        ([key, answer]) => [key, scoreOfAnswer(answer)] as const,
      ),
      count: batch.length,
      cost,
    };
  }
}
