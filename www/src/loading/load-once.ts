/** Returns a function that runs `work` at its first call and returns the same promise afterwards. After a failure the next call tries again. */
export function loadOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= work().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** An engine or evaluator that opens when it is needed. */
export class Reopenable<T extends { close(): void }> {
  #opening: Promise<T> | undefined;

  constructor(private readonly work: () => Promise<T>) {}

  /** Opens it once. After a failure and after `close`, the next call opens it again. */
  open(): Promise<T> {
    const opening = (this.#opening ??= this.work());
    opening.catch(
      () => this.#opening === opening && (this.#opening = undefined),
    );
    return opening;
  }

  close(): void {
    void this.#opening?.then(
      (opened) => opened.close(),
      () => {},
    );
    this.#opening = undefined;
  }
}
