// Parts that are opened on demand.

/** Parts by name. A part is opened when it is first needed. If the opening failed, the next call opens the part again. */
export class Parts {
  #open = new Map<string, Promise<{ close(): void }>>();

  /** Returns a part, and opens it if it is not open. */
  get<T extends { close(): void }>(
    name: string,
    open: () => Promise<T>,
  ): Promise<T> {
    const known = this.#open.get(name) as Promise<T> | undefined;
    if (known) return known;
    const part = open();
    this.#open.set(name, part);
    part.catch(() => this.#open.get(name) === part && this.#open.delete(name));
    return part;
  }

  /** Closes a part, or all parts. */
  close(name?: string): void {
    for (const [key, part] of this.#open) {
      if (name !== undefined && key !== name) continue;
      this.#open.delete(key);
      part.then((open) => open.close()).catch(() => {});
    }
  }
}
