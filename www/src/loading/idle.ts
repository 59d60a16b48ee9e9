/** Calls `work` when the page is idle, after half a second at the latest. */
export function whenIdle(work: () => void): void {
  // Safari has no `requestIdleCallback`.
  if ("requestIdleCallback" in window)
    window.requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 50);
}
