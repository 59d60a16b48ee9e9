/** The games of players: stored in IndexedDB, and fetched if they are not stored yet. */
import {
  openStorage,
  requestResult,
  transactionEnd,
} from "../../../crate/js/shared/indexed-db.ts";
import type { PlayedGame } from "../sites/request";
import { type Player, fetchPlayed } from "./player";

/** The stored games of a player: all games between the first and the last stored game. */
interface StoredGames {
  /** The games, the last game first. */
  games: PlayedGame[];
  /** Whether the player's first game is stored. */
  isComplete: boolean;
}

/** Maximum number of stored games of all players. The players of the oldest visits are removed. */
const MAX_GAMES = 20_000;

/** A player in the store. */
interface PlayerEntry {
  key: string;
  isComplete: boolean;
  /** Time of the last visit, in milliseconds since 1970. */
  visited: number;
  count: number;
}

const keyOf = ({ site, name }: Player) => `${site}:${name.toLowerCase()}`;

const lastFirst = (games: PlayedGame[]) =>
  games.sort((a, b) => b.time - a.time);

/** Opens the store. Returns `undefined` if IndexedDB is unavailable: the games of a visit are then in memory. */
export async function openPlayerStore(
  maximum = MAX_GAMES,
): Promise<PlayerStore | undefined> {
  try {
    const database = await openStorage("shelfish-players", 1, (database) => {
      database.createObjectStore("players", { keyPath: "key" });
      database.createObjectStore("games", { keyPath: ["player", "id"] });
    });
    return new PlayerStore(database, maximum);
  } catch {
    return undefined;
  }
}

export class PlayerStore {
  constructor(
    private readonly database: IDBDatabase,
    private readonly maximum: number,
  ) {}

  async read(player: Player): Promise<StoredGames> {
    const { players, texts } = this.#begin("readonly");
    const key = keyOf(player);
    const [entry, games] = await Promise.all([
      requestResult<PlayerEntry | undefined>(players.get(key)),
      requestResult<PlayedGame[]>(texts.getAll(gamesOf(key))),
    ]);
    return { games: lastFirst(games), isComplete: entry?.isComplete ?? false };
  }

  /** Adds games that adjoin the stored games. */
  async add(
    player: Player,
    games: readonly PlayedGame[],
    isComplete: boolean,
  ): Promise<void> {
    const { players, texts, done } = this.#begin("readwrite");
    const key = keyOf(player);
    for (const game of games) texts.put({ ...game, player: key });
    const count = await requestResult(texts.count(gamesOf(key)));
    players.put({
      key,
      isComplete,
      visited: Date.now(),
      count,
    } satisfies PlayerEntry);
    const entries = await requestResult<PlayerEntry[]>(players.getAll());
    let total = entries.reduce((sum, { count }) => sum + count, 0);
    for (const old of entries.sort((a, b) => a.visited - b.visited)) {
      if (total <= this.maximum || old.key === key) break;
      total -= old.count;
      players.delete(old.key);
      texts.delete(gamesOf(old.key));
    }
    await done;
  }

  /** Removes the games of a player. */
  async remove(player: Player): Promise<void> {
    const { players, texts, done } = this.#begin("readwrite");
    const key = keyOf(player);
    players.delete(key);
    texts.delete(gamesOf(key));
    await done;
  }

  #begin(mode: IDBTransactionMode) {
    const transaction = this.database.transaction(["players", "games"], mode);
    return {
      players: transaction.objectStore("players"),
      texts: transaction.objectStore("games"),
      done: transactionEnd(transaction),
    };
  }
}

/** Returns the range of keys of a player's games. */
const gamesOf = (key: string) => IDBKeyRange.bound([key, ""], [key, "\uffff"]);

/** Number of games of the first visit, and of each request for older games. */
const PAGE = 100;

/** Maximum number of new games since the last visit. */
const MAX_NEW = 3_000;

export class PlayerGames {
  constructor(
    private readonly player: Player,
    private readonly store: PlayerStore | undefined,
    /** The stored games. */
    public known: StoredGames,
  ) {}

  static async open(
    player: Player,
    store: PlayerStore | undefined,
  ): Promise<PlayerGames> {
    return new PlayerGames(
      player,
      store,
      (await store?.read(player)) ?? { games: [], isComplete: false },
    );
  }

  /** Fetches the games after the last stored game. `progress` receives the number of fetched games. Throws like `fetchPlayed`. */
  async update(
    progress: (count: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const since = this.known.games[0]?.time;
    if (since === undefined) return this.older(progress, signal);
    const games: PlayedGame[] = [];
    for await (const game of fetchPlayed(
      this.player,
      { since, count: MAX_NEW },
      signal,
    ))
      progress(games.push(game));
    // Games may be missing between the stored games and a list of maximum length.
    if (games.length === MAX_NEW) {
      await this.store?.remove(this.player).catch(() => {});
      this.known = { games: [], isComplete: false };
    }
    await this.#add(games, this.known.isComplete);
  }

  /** Fetches at most `count` games before the first stored game. Keeps the games before an error. Throws like `fetchPlayed`. */
  async older(
    progress: (count: number) => void,
    signal: AbortSignal,
    count = PAGE,
  ): Promise<void> {
    const until = this.known.games.at(-1)?.time;
    const games: PlayedGame[] = [];
    let isEnd = false;
    try {
      for await (const game of fetchPlayed(
        this.player,
        { ...(until === undefined ? {} : { until }), count },
        signal,
      ))
        progress(games.push(game));
      // The sites leave out games of other variants, so that a shorter list is not the end.
      isEnd = games.length === 0;
    } finally {
      await this.#add(games, isEnd);
    }
  }

  /** Fetches the newer games, and older games until `count` games are stored. Throws like `fetchPlayed`. */
  async fetch(
    count: number,
    progress: (count: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.known.games.length > 0) await this.update(progress, signal);
    const { games, isComplete } = this.known;
    if (!isComplete && games.length < count)
      await this.older(
        (older) => progress(games.length + older),
        signal,
        count - games.length,
      );
  }

  async #add(games: readonly PlayedGame[], isComplete: boolean): Promise<void> {
    // A full disk loses only the store: the list has the games of this visit.
    await this.store?.add(this.player, games, isComplete).catch(() => {});
    const known = new Map(
      [...this.known.games, ...games].map((game) => [game.id, game]),
    );
    this.known = {
      games: lastFirst([...known.values()]),
      isComplete,
    };
  }
}
