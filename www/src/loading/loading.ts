/** What is loaded or opened once, when it is needed, and when work runs. */
import { Parts } from "../../../crate/js/shared/parts.ts";
import { InputError } from "../text/words";

/** Returns a function that runs `work` at its first call and returns the same promise afterwards. After a failure the next call tries again. */
export function loadOnce<T>(work: () => Promise<T>): () => Promise<T> {
  const parts = new Parts();
  return () => parts.get("", work);
}

/** Returns the module that reads games and reports on them. */
export const analysis = loadOnce(async () =>
  (await loadPart(import("shelfish/analysis"))).openAnalysis(),
);

/** Work that replaces the work before it: only the latest signal is not aborted. */
export class Latest {
  #abort = new AbortController();

  /** Aborts the work before, and returns the signal of new work. */
  begin(): AbortSignal {
    this.abort();
    this.#abort = new AbortController();
    return this.#abort.signal;
  }

  abort(): void {
    this.#abort.abort();
  }
}

/** Waits for a dynamic import. Throws an `InputError` with advice if it fails. */
export async function loadPart<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new InputError(
      "A part of this page cannot be loaded. Try again when there is a connection.",
    );
  }
}

/** Runs `work` and passes the message of an `InputError` to `show`. */
export async function reportInputError(
  work: () => Promise<unknown>,
  show: (message: string) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    show(error.message);
  }
}

declare global {
  var early: Record<string, Promise<Response>> | undefined;
}

/** Fetches a URL, by its early request if the page has sent it. A preload link is not enough: Firefox would request the manifest twice. */
export function fetchEarly(url: string, init: RequestInit): Promise<Response> {
  const response = globalThis.early?.[url];
  delete globalThis.early?.[url];
  return response ?? fetch(url, init);
}

/** Returns a function that calls `work` with the newest value, at most once per interval; urgent values at once. */
export function throttle<T>(
  milliseconds: number,
  work: (value: T) => void,
): (value: T, isUrgent?: boolean) => void {
  let last = -Infinity;
  let timer = 0;
  return (value, isUrgent = false) => {
    window.clearTimeout(timer);
    const run = () => {
      last = performance.now();
      work(value);
    };
    const wait = last + milliseconds - performance.now();
    if (isUrgent || wait <= 0) run();
    else timer = window.setTimeout(run, wait);
  };
}

/** Calls `work` when the page is idle, after half a second at the latest. */
export function whenIdle(work: () => void): void {
  // Safari has no `requestIdleCallback`.
  if ("requestIdleCallback" in window)
    window.requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 50);
}

/** Waits for the next task, so that the browser can paint and handle clicks before it. */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve));

/** Calls `change` whenever `element` becomes visible in the window or is not visible any more. */
export function whenVisible(
  element: Element,
  change: (isVisible: boolean) => void,
): void {
  new IntersectionObserver((entries) =>
    change(entries.some(({ isIntersecting }) => isIntersecting)),
  ).observe(element);
}
