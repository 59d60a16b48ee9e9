// Parts that are opened on demand.

/** Whether a part is named by its URL, and not open. */
export const isUrl = (value: unknown): value is string | URL =>
  typeof value === "string" || value instanceof URL;

/** Parts by name. A part is opened when it is first needed. If the opening failed, the next call opens the part again. */
export class Parts {
  #open = new Map<string, Promise<unknown>>();

  /** Returns a part, and opens it if it is not open. */
  get<T>(name: string, open: () => T | PromiseLike<T>): Promise<T> {
    const known = this.#open.get(name) as Promise<T> | undefined;
    if (known) return known;
    // `open` runs when the part is known, so that a part which fails at once can be forgotten.
    const part = Promise.resolve().then(open);
    this.#open.set(name, part);
    part.catch(() => this.#open.get(name) === part && this.#open.delete(name));
    return part;
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
      part.then((open) => (open as { close(): void }).close()).catch(() => {});
    }
  }
}
