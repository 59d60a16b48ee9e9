// Aborts of operations that run in the background.

import { ShelfishError } from "./errors.js";

const aborted = ({ reason }: AbortSignal, name: string) => new ShelfishError({ code: "aborted", message: `${name} was aborted` }, reason);

/** Throws with code `aborted` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | null | undefined, name: string): void {
  if (signal?.aborted) throw aborted(signal, name);
}

/** Waits for `work`. Rejects with code `aborted` if the signal is aborted first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined, name: string): Promise<T> {
  if (!signal) return work;
  let abort = () => {};
  const aborting = new Promise<never>((_, reject) => {
    abort = () => reject(aborted(signal, name));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
  });
  return Promise.race([aborting, work]).finally(() => signal.removeEventListener("abort", abort));
}
