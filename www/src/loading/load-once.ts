/** Does something at most once, when it is first asked for; a failure is not kept, so that the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | undefined;
  return () =>
    (doing ??= work().catch((error: unknown) => {
      doing = undefined;
      throw error;
    }));
}
