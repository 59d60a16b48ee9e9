// The one error that the package throws, and waiting for what may end otherwise.

export class ShelfishError extends Error {
  constructor(code, message, { url, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = code === "aborted" ? "AbortError" : "ShelfishError";
    this.code = code;
    if (url !== undefined) this.url = url;
  }
}

/** Checks that an option is a number of at least `least`, and gives it. */
export function atLeast(least, name, value) {
  if (typeof value === "number" && value >= least) return value;
  throw new ShelfishError("usage", `${name}: expected a number of at least ${least}, found ${describe(value)}`);
}

/** A value in a few words. */
export function describe(value) {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return value !== null && /^(object|function)$/.test(typeof value) ? `a value of type ${typeof value}` : String(value);
}

/** A failure as the module writes it. */
export const failure = ({ code, message, url }) => new ShelfishError(code, message, { url });

const aborted = (signal) => new ShelfishError("aborted", "the lookup was aborted", { cause: signal.reason });

/** Throws if the signal was aborted. */
export function check(signal) {
  if (signal?.aborted) throw aborted(signal);
}

/** Waits for `work`, unless the signal aborts it or someone calls what is in `stops` meanwhile; then `ended` is. */
export function until(work, signal, stops, ended) {
  return new Promise((resolve, reject) => {
    const settle = (outcome, value) => {
      signal?.removeEventListener("abort", abort);
      stops.delete(stop);
      outcome(value);
    };
    const stop = (error) => {
      ended();
      settle(reject, error);
    };
    const abort = () => stop(aborted(signal));
    signal?.addEventListener("abort", abort);
    stops.add(stop);
    work.then((value) => settle(resolve, value), stop);
  });
}
