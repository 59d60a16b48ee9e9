// Aborts of operations that go on in the background.

import { ShelfishError } from "./errors.js";

/** Waits for `work`; rejects with code `aborted` if the signal is aborted first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined, name: string): Promise<T> {
  if (!signal) return work;
  let abort = () => {};
  const aborting = new Promise<never>((_, reject) => {
    abort = () => reject(new ShelfishError({ code: "aborted", message: `${name} was aborted` }, signal.reason));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
  });
  return Promise.race([aborting, work]).finally(() => signal.removeEventListener("abort", abort));
}
