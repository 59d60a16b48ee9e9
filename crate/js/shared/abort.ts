// Aborts of operations that run in the background.

import { ShelfishError } from "./errors.js";

const aborted = ({ reason }: AbortSignal, name: string) =>
  new ShelfishError(
    { code: "aborted", message: `${name} was aborted` },
    reason,
  );

/** Listeners by signal. A signal gets a single listener, because Node warns about more than ten. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `listener` when the signal is aborted. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let all = listeners.get(signal);
  if (!all) {
    const added = new Set<() => void>();
    listeners.set(signal, (all = added));
    signal.addEventListener(
      "abort",
      () => [...added].forEach((listener) => listener()),
      { once: true },
    );
  }
  all.add(listener);
  return () => all.delete(listener);
}

/** Runs `work` with a separate signal, which is aborted with `signal`. */
export async function withOwnSignal<T>(
  signal: AbortSignal | null | undefined,
  work: (own: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (!signal) return work(undefined);
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  if (signal.aborted) abort();
  const remove = onAbort(signal, abort);
  return work(own.signal).finally(remove);
}

/** Throws with code `aborted` if the signal is aborted. */
export function throwIfAborted(
  signal: AbortSignal | null | undefined,
  name: string,
): void {
  if (signal?.aborted) throw aborted(signal, name);
}

/** Waits for `work`. Rejects with code `aborted` if the signal is aborted first. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | null | undefined,
  name: string,
): Promise<T> {
  if (!signal) return work;
  let remove = () => {};
  const aborting = new Promise<never>((_, reject) => {
    const abort = () => reject(aborted(signal, name));
    if (signal.aborted) abort();
    remove = onAbort(signal, abort);
  });
  return Promise.race([aborting, work]).finally(remove);
}
