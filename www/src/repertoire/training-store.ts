/** The states of training questions, stored in IndexedDB, or in memory if IndexedDB is unavailable. */
import { openStorage, requestResult, transactionEnd } from "shelfish/storage";
import type { Scheduled } from "./schedule";

/** A question: a position and the bad move that was played from it. */
export interface QuestionId {
  /** The first four fields of the FEN. */
  position: string;
  /** The bad move, in UCI. */
  uci: string;
}

type Entry = QuestionId & Scheduled;

const keyOf = ({ position, uci }: QuestionId): string => `${position} ${uci}`;

/** The states are read once: answers in another tab are not seen until the page is loaded again. */
export class TrainingStore {
  readonly #known = new Map<string, Scheduled>();
  #database: IDBDatabase | undefined;
  /** Settled when the stored states are known. */
  readonly loaded = this.#load();

  /** Returns the state of a question; `undefined` for a new question. */
  get(id: QuestionId): Scheduled | undefined {
    return this.#known.get(keyOf(id));
  }

  async set(id: QuestionId, { box, due }: Scheduled): Promise<void> {
    this.#known.set(keyOf(id), { box, due });
    if (!this.#database) return;
    const transaction = this.#database.transaction("questions", "readwrite");
    transaction
      .objectStore("questions")
      .put({ ...id, box, due } satisfies Entry);
    // A full disk loses only the schedule: this visit has the state.
    await transactionEnd(transaction).catch(() => {});
  }

  async #load(): Promise<void> {
    try {
      const database = await openStorage(
        "shelfish-training",
        1,
        (database) =>
          void database.createObjectStore("questions", {
            keyPath: ["position", "uci"],
          }),
      );
      const entries = await requestResult<Entry[]>(
        database.transaction("questions").objectStore("questions").getAll(),
      );
      for (const entry of entries) this.#known.set(keyOf(entry), entry);
      this.#database = database;
    } catch {
      // Private windows have no IndexedDB.
    }
  }
}
