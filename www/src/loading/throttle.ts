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
