// The functions that open databases, books and endgame tables have in common.
/// <reference lib="esnext.disposable" preserve="true" />

import { Calls } from "./abort.js";
import { asError, enter, enterSync, failed, ShelfishError } from "./errors.js";
import { checked, fenList, type Kinds } from "./options.js";
import type { CallOptions, Stats } from "./types.js";

/** An open database, book or set of endgame tables. */
export abstract class Opened<S> {
  /**
   * The object of the WASM module. Its errors are plain objects, also among the answers.
   * @internal
   */
  protected readonly reader: any;
  #calls = new Calls();

  /** @internal */
  constructor(reader: any) {
    this.reader = reader;
  }

  /**
   * Looks positions up, and returns all answers or the only answer. With "nothing", only fills the caches.
   * @internal
   */
  protected lookUp<O extends CallOptions>(
    call: string,
    fens: Iterable<string>,
    options: O | null | undefined,
    kinds: Kinds<O>,
    returned: "one" | "all" | "nothing",
  ): Promise<any> {
    return enter(async () => {
      const list = fenList(call, fens);
      const { signal, ...rest } = checked(call, options, kinds);
      // The module ends its promise when the signal is aborted.
      const found: unknown[] = await this.#calls.run(
        "the lookup",
        signal,
        (own) => this.reader.lookup(list, rest, own, returned !== "nothing"),
      );
      const answers = found.map(asError);
      if (returned !== "one") return answers;
      if (answers[0] instanceof ShelfishError) throw answers[0];
      return answers[0];
    });
  }

  /** Clears the caches in memory and in IndexedDB. Keeps other databases in the same cache. */
  clear(): Promise<void> {
    return enter(() => this.reader.clear());
  }

  /** Returns totals since the opening. */
  stats(): S {
    return enterSync(() => this.reader.stats());
  }

  /** Frees the memory. Calls in progress reject with code `closed`. May be called again. */
  close(): void {
    this.reader.close();
    this.#calls.close(failed("closed", "the database was closed"));
  }

  /** Closes at the end of a block: `using database = await openDatabase(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** An open database or book. */
export abstract class OpenTable<M> extends Opened<Stats> {
  /** The manifest: the number of positions, the files, and properties of the build. */
  get manifest(): M {
    return enterSync(() => this.reader.manifest());
  }

  /** Fetches the blocks of positions, so that their lookups need no request. Ignores positions that fail. */
  async prefetch(
    fens: Iterable<string>,
    options?: Pick<CallOptions, "signal">,
  ): Promise<void> {
    await this.lookUp(
      "prefetch",
      fens,
      options,
      { signal: "signal" },
      "nothing",
    );
  }
}
