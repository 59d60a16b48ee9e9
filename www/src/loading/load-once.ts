/** What is loaded or opened once, when it is needed. */
import { InputError } from "../text/input-error";

/** Returns a function that runs `work` at its first call and returns the same promise afterwards. After a failure the next call tries again. */
export function loadOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= work().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** Returns the module that reads games and reports on them. */
export const analysis = loadOnce(async () =>
  (await loadPart(import("shelfish/analysis"))).openAnalysis(),
);

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

/** Waits for a dynamic import. Throws an `InputError` with advice if it fails. */
export async function loadPart<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new InputError(
      "A part of this page cannot be loaded. Try again when there is a connection.",
    );
  }
}

/** Runs `work` and passes the message of an `InputError` to `show`. */
export async function reportInputError(
  work: () => Promise<unknown>,
  show: (message: string) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    show(error.message);
  }
}

declare global {
  var early: Record<string, Promise<Response>> | undefined;
}

/** Fetches a URL, by its early request if the page has sent it. A preload link is not enough: Firefox would request the manifest twice. */
export function fetchEarly(url: string, init: RequestInit): Promise<Response> {
  const response = globalThis.early?.[url];
  delete globalThis.early?.[url];
  return response ?? fetch(url, init);
}
