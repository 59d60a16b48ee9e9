/** Waits for the next task, so that the browser can paint and handle clicks before it. */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve));
