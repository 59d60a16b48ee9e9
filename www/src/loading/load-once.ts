/** Returns a function that runs `work` at its first call and returns the same promise afterwards. After a failure the next call tries again. */
export function loadOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= work().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}
