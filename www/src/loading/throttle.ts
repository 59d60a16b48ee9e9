/** Calls `work` at most once within some milliseconds, always with the newest value; at once if it is urgent. */
export function later<T>(milliseconds: number, work: (value: T) => void): (value: T, isUrgent?: boolean) => void {
  let last = -Infinity;
  let timer = 0;
  return (value, isUrgent = false) => {
    window.clearTimeout(timer);
    const run = () => {
      last = performance.now();
      work(value);
    };
    const rest = last + milliseconds - performance.now();
    if (isUrgent || rest <= 0) run();
    else timer = window.setTimeout(run, rest);
  };
}
