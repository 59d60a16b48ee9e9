// The functions that databases of evaluations and books have in common.
/// <reference lib="esnext.disposable" preserve="true" />

import { withOwnSignal } from "./abort.js";
import { enter, enterSync, type ShelfishError, type Trace } from "./errors.js";
import { checked, fenList, fenText, type Kinds } from "./options.js";
import type { Stats } from "./types.js";

/**
 * The `Database` of a WASM module. Errors are plain objects, also among the answers.
 * @internal
 */
export interface TableReader {
  lookup(fen: string, options: unknown): Promise<any>;
  lookupMany(
    fens: string[],
    options: unknown,
    hasAnswers: boolean,
  ): Promise<any>;
  clear(): Promise<any>;
  manifest(): any;
  stats(): any;
  close(): void;
}

/** Options that all lookups have. */
export interface AbortOptions {
  /** Aborts the lookup. Requests in flight continue, for the next lookup. */
  signal?: AbortSignal | undefined;
}

/** An open database or book. */
export abstract class OpenTable<M> {
  #reader: TableReader;

  /** @internal */
  protected constructor(reader: TableReader) {
    this.#reader = reader;
  }

  /** The manifest: the number of positions, the files, and properties of the build. */
  get manifest(): M {
    return enterSync(() => this.#reader.manifest());
  }

  /** @internal */
  protected lookupOne<O extends AbortOptions>(
    call: string,
    fen: string,
    options: O | null | undefined,
    kinds: Kinds<O>,
  ): Promise<any> {
    const text = fenText(call, fen);
    const { signal, ...rest } = checked(call, options, kinds);
    return withOwnSignal(signal, async (own) =>
      this.#reader.lookup(text, { ...rest, signal: own }),
    );
  }

  /** @internal */
  protected async lookupAll<O extends AbortOptions>(
    call: string,
    fens: Iterable<string>,
    options: O | null | undefined,
    kinds: Kinds<O>,
    trace?: Trace,
  ): Promise<any[]> {
    const list = fenList(call, fens);
    const { signal, ...rest } = checked(call, options, kinds);
    const answers: any[] = await withOwnSignal(signal, async (own) =>
      this.#reader.lookupMany(list, { ...rest, signal: own }, !!trace),
    );
    return trace
      ? answers.map((answer) =>
          answer && "code" in answer
            ? (trace(answer) as ShelfishError)
            : answer,
        )
      : [];
  }

  /** Fetches the blocks of positions, so that their lookups need no request. Ignores positions that fail. */
  prefetch(fens: Iterable<string>, options?: AbortOptions): Promise<void> {
    return enter(
      async () =>
        void (await this.lookupAll("prefetch", fens, options, {
          signal: "signal",
        })),
    );
  }

  /** Clears the caches in memory and in IndexedDB. Keeps other databases in the same cache. */
  clear(): Promise<void> {
    return enter(() => this.#reader.clear());
  }

  /** Returns totals since the opening. */
  stats(): Stats {
    return enterSync(() => this.#reader.stats());
  }

  /** Frees the memory. Lookups in progress reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes at the end of a block: `using database = await openDatabase(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
