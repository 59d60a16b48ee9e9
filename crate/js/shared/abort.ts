// Aborts of calls.

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

/** Throws with code `aborted` if the signal is aborted. */
export function throwIfAborted(
  signal: AbortSignal | null | undefined,
  name: string,
): void {
  if (signal?.aborted) throw aborted(signal, name);
}

/** Calls in progress. */
export class Calls {
  #running = new Set<AbortController>();

  /**
   * Runs `work` with a signal that is aborted with the caller's signal and by `close`. The reason is the error of the call, and `work`
   * rejects with it.
   */
  async run<T>(
    name: string,
    signal: AbortSignal | null | undefined,
    work: (own: AbortSignal) => Promise<T>,
  ): Promise<T> {
    throwIfAborted(signal, name);
    const own = new AbortController();
    const remove =
      signal && onAbort(signal, () => own.abort(aborted(signal, name)));
    this.#running.add(own);
    try {
      return await work(own.signal);
    } finally {
      remove?.();
      this.#running.delete(own);
    }
  }

  /** Ends all calls with an error. */
  close(error: ShelfishError): void {
    for (const own of this.#running) own.abort(error);
  }
}

/** Waits for `work`. Rejects with the signal's reason if the signal is aborted first. */
export const orAborted = <T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> =>
  Promise.race([
    new Promise<never>((_, reject) =>
      onAbort(signal, () => reject(signal.reason)),
    ),
    work,
  ]);

/** Waits for `work`. Rejects with code `aborted` if the signal is aborted first. */
export const unlessAborted = <T>(
  work: Promise<T>,
  signal: AbortSignal | null | undefined,
  name: string,
): Promise<T> => new Calls().run(name, signal, (own) => orAborted(work, own));
