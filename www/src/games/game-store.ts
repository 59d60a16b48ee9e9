/**
 * The games that were opened, stored in this browser: in IndexedDB. A game that is opened twice is stored once. When the limits are exceeded, the oldest games are removed.
 */
import {
  eachEntry,
  openStorage,
  requestResult,
  transactionEnd,
} from "../../../crate/js/shared/indexed-db.ts";
import type { Game } from "../game/game";
import type { Checked } from "../game/read-pgn";
import { toPgn } from "../game/write-pgn";
import type { Judged } from "../state/state";

/** A stored game without its text. */
export interface GameEntry {
  /** Hash of the start position, the moves and the players. */
  readonly id: string;
  readonly white: string;
  readonly black: string;
  readonly event: string;
  /** Date as in PGN: "1999.01.20", "1972.??.??", or empty. */
  readonly date: string;
  readonly result: string;
  /** ECO code and name of the opening, from the headers. */
  readonly opening: string;
  readonly plies: number;
  /** When the game was last opened, in milliseconds since 1970; fractions keep the order of a file's games. */
  readonly opened: number;
  /** Length of the text in characters. */
  readonly size: number;
  /** Source of the game: "lichess:ID". */
  readonly source?: string;
  /** Accuracy and turning points, if the game has a settled report. */
  readonly summary?: string;
}

export interface Stored extends GameEntry {
  /** The game as PGN. */
  readonly text: string;
}

/** Maximum number of stored games, of the characters of their texts, and of reports. */
const LIMITS = { games: 5_000, characters: 20_000_000, reports: 1_000 };

/** Opens the store. Rejects if IndexedDB is unavailable. */
export async function openStore(limits = LIMITS): Promise<GameStore> {
  const database = await openStorage("shelfish-games", 2, (database) => {
    database.createObjectStore("reports").createIndex("at", "at");
    if (database.objectStoreNames.contains("list")) return;
    const list = database.createObjectStore("list", { keyPath: "id" });
    list.createIndex("opened", "opened");
    list.createIndex("source", "source");
    database.createObjectStore("texts");
  });
  return new GameStore(database, limits);
}

export class GameStore {
  constructor(
    private readonly database: IDBDatabase,
    private readonly limits: typeof LIMITS,
  ) {}

  /** Returns the games, the last opened first; at most `count`. */
  async list(count = Infinity): Promise<GameEntry[]> {
    const index = this.database
      .transaction("list")
      .objectStore("list")
      .index("opened");
    if (count === Infinity)
      return (await requestResult<GameEntry[]>(index.getAll())).reverse();
    const entries: GameEntry[] = [];
    await eachEntry(
      index.openCursor(null, "prev"),
      (cursor) => entries.push(cursor.value as GameEntry) < count,
    );
    return entries;
  }

  /** Returns a game, by its id or source. */
  async find(key: string): Promise<Stored | undefined> {
    const { list, texts } = this.#begin("readonly");
    const entry = await requestResult<GameEntry | undefined>(
      key.includes(":") ? list.index("source").get(key) : list.get(key),
    );
    const text =
      entry && (await requestResult<string | undefined>(texts.get(entry.id)));
    return entry && text !== undefined ? { ...entry, text } : undefined;
  }

  /** Stores games; of two copies of a game the longer text is kept. Returns how many old games were removed. */
  async keep(games: readonly Stored[]): Promise<number> {
    const { list, texts, reports, done } = this.#begin("readwrite");
    for (const game of games) {
      const before = await requestResult<GameEntry | undefined>(
        list.get(game.id),
      );
      const { text, ...entry } = game;
      const { opened, source } = entry;
      if (before && before.size > game.size)
        list.put({ ...before, opened, ...(source ? { source } : {}) });
      else {
        await put(entry, list, reports);
        texts.put(text, game.id);
      }
    }
    const old = excess(
      (
        await requestResult<GameEntry[]>(list.index("opened").getAll())
      ).reverse(),
      this.limits,
    );
    for (const { id } of old) {
      list.delete(id);
      texts.delete(id);
    }
    await done;
    return old.length;
  }

  /** Replaces the text of a game, and removes its entry under its former id. */
  async replace({ text, ...entry }: Stored, formerId?: string): Promise<void> {
    const { list, texts, reports, done } = this.#begin("readwrite");
    if (formerId !== undefined) {
      list.delete(formerId);
      texts.delete(formerId);
    }
    await put(entry, list, reports);
    texts.put(text, entry.id);
    await done;
  }

  /** Returns the settled report of a main line. */
  async report(key: string): Promise<Judged | undefined> {
    const { reports } = this.#begin("readonly");
    const found = requestResult<{ settled: Judged } | undefined>(
      reports.get(key),
    );
    return (await found)?.settled;
  }

  /** Stores the settled report of a main line and its summary for the list, and removes the oldest reports beyond the limit. */
  async keepReport(
    key: string,
    settled: Judged,
    summary: string,
  ): Promise<void> {
    const { list, reports, done } = this.#begin("readwrite");
    reports.put({ at: Date.now(), settled, summary }, key);
    const entry = await requestResult<GameEntry | undefined>(list.get(key));
    if (entry) list.put({ ...entry, summary });
    let excess = (await requestResult(reports.count())) - this.limits.reports;
    if (excess > 0)
      await eachEntry(reports.index("at").openCursor(), (cursor) => {
        cursor.delete();
        return --excess > 0;
      });
    await done;
  }

  async remove(id: string): Promise<void> {
    const { list, texts, reports, done } = this.#begin("readwrite");
    for (const each of [list, texts, reports]) each.delete(id);
    await done;
  }

  async clear(): Promise<void> {
    const { list, texts, reports, done } = this.#begin("readwrite");
    for (const each of [list, texts, reports]) each.clear();
    await done;
  }

  #begin(mode: IDBTransactionMode) {
    const names = ["list", "texts", "reports"];
    const transaction = this.database.transaction(names, mode);
    return {
      list: transaction.objectStore("list"),
      texts: transaction.objectStore("texts"),
      reports: transaction.objectStore("reports"),
      done: transactionEnd(transaction),
    };
  }
}

/** Puts an entry into the list, with the summary of its report. */
async function put(
  entry: GameEntry,
  list: IDBObjectStore,
  reports: IDBObjectStore,
): Promise<void> {
  const found = await requestResult<{ summary: string } | undefined>(
    reports.get(entry.id),
  );
  list.put({ ...entry, ...(found && { summary: found.summary }) });
}

/** Returns the games beyond the limits; `entries` begin with the last opened. */
function excess(
  entries: readonly GameEntry[],
  limits: typeof LIMITS,
): GameEntry[] {
  let characters = 0;
  const kept = entries.findIndex(
    ({ size }, index) =>
      index >= limits.games || (characters += size) > limits.characters,
  );
  return kept === -1 ? [] : entries.slice(kept);
}

/** Returns the entry of a game that was checked, with its original text. */
export function ofText(
  { headers, result, id, plies, text }: Checked,
  opened: number,
): Stored {
  const field = (name: string) => headers.get(name) ?? "";
  return {
    white: field("White"),
    black: field("Black"),
    event: field("Event"),
    date: field("UTCDate") || field("Date"),
    result: field("Result") || (result === "*" ? "" : (result ?? "")),
    opening: [field("ECO"), field("Opening")].filter(Boolean).join(" "),
    id,
    plies,
    text,
    size: text.length,
    opened,
  };
}

export function ofBoard(game: Game, id: string, opened: number): Stored {
  const { headers, sourcePlies: plies, lichess } = game;
  const checked = { headers, result: null, id, plies, text: toPgn(game) };
  return {
    ...ofText(checked, opened),
    ...(lichess ? { source: `lichess:${lichess}` } : {}),
  };
}
