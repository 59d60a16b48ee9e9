// Parts that are opened on demand.

import { isUrl, shown, usage } from "./options.js";
import type { Opener } from "./types.js";

/** Name of the option by which an entry that opens a database for another entry is told so. `checked` ignores symbols. */
const BY = Symbol.for("shelfish.by");

/** Returns options for a call by an entry, which errors name. */
export const by = (entry: string): object => ({ [BY]: entry });

/** Returns the entry of {@link by}. */
export const entryOf = (
  options: object | null | undefined,
): string | undefined =>
  (options as Record<symbol, string> | null | undefined)?.[BY];

/** Returns options whose promises may reject before they are needed. The call that needs them rejects. */
export function awaited<O extends object>(options: O): O {
  for (const value of Object.values(options))
    Promise.resolve(value).catch(() => {});
  return options;
}

/** Whether no call may wait for the request of another call: Cloudflare's Workers end an incoming request that does. */
export const isIsolated = (): boolean =>
  globalThis.navigator?.userAgent === "Cloudflare-Workers";

/**
 * Parts by name. A part is opened when it is first needed. If the opening failed, the next call opens the part again. Unless `isShared`,
 * calls do not wait for a part that another call opens.
 */
export class Parts {
  #open = new Map<string, Promise<unknown>>();
  /** Objects that their owners close. */
  #lent = new WeakSet<object>();

  /** Returns a part, and opens it if it is not open. */
  get<T>(
    name: string,
    open: () => T | PromiseLike<T>,
    isShared = !isIsolated(),
  ): Promise<T> {
    const known = this.#open.get(name) as Promise<T> | undefined;
    if (known) return known;
    // `open` runs when the part is known, so that a part which fails at once can be forgotten.
    const part = Promise.resolve().then(open);
    const keep = () => void this.#open.set(name, part);
    if (isShared) keep();
    else part.then(keep, () => {});
    part.catch(() => this.#open.get(name) === part && this.#open.delete(name));
    return part;
  }

  /** Remembers that the owner of an open object closes it. */
  lend(object: object): void {
    this.#lent.add(object);
  }

  /** Forgets a part that failed after it was opened. */
  forget(name: string): void {
    this.#open.delete(name);
  }

  /** Closes a part, or all parts. */
  close(name?: string): void {
    for (const [key, part] of this.#open) {
      if (name !== undefined && key !== name) continue;
      this.#open.delete(key);
      part
        .then((open) => {
          if (!this.#lent.has(open as object))
            (open as { close(): void }).close();
        })
        .catch(() => {});
    }
  }
}

/**
 * Returns the part that an option gives. All entries take the same: a URL, an open object, a promise of either, or a function that
 * returns one of these; `true` for the engine. `method` is what the caller needs of the object. `close` of the parts closes what a URL
 * names, and with `isOwner` what a function returns.
 */
export async function given<T extends object>(
  parts: Parts,
  name: string,
  option: Opener<T, string | URL | boolean>,
  method: keyof T & string,
  open: (url: any) => Promise<T>,
  isOwner = true,
): Promise<T | undefined> {
  if (!option && option !== "") return undefined;
  return parts.get(name, async () => {
    const value = await (typeof option === "function" ? option() : option);
    const isEngine = name === "engine" || name === "draft";
    if (isEngine ? value === true : isUrl(value)) return open(value);
    if (!value) return undefined;
    const found = value as T;
    if (typeof found[method] !== "function") {
      const expected = isEngine ? "true" : "a URL";
      throw usage(
        `${name}: expected ${expected}, an open object with ${method}(), or a promise of either, found ${shown(value)}`,
      );
    }
    if (typeof option !== "function" || !isOwner) parts.lend(found);
    return found;
  });
}
