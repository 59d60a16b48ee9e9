/** When work runs: in the next task, when the page is idle, at most once per interval, or when an element is visible. */

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
