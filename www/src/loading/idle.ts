/** Does something when the page has nothing better to do, within half a second. */
export function whenIdle(work: () => void): void {
  // Safari has no such thing.
  if ("requestIdleCallback" in window) window.requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 50);
}
