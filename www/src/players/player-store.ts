/** The fetched games of players, stored in IndexedDB. */
import {
  openStorage,
  requestResult,
  transactionEnd,
} from "../../../crate/js/shared/indexed-db.ts";
import type { PlayedGame } from "../sites/request";
import type { Player } from "./player";

/** The stored games of a player: all games between the first and the last stored game. */
export interface StoredGames {
  /** The games, the last game first. */
  games: PlayedGame[];
  /** Whether the player's first game is stored. */
  isComplete: boolean;
}

/** Maximum number of stored games of all players. The players of the oldest visits are removed. */
const MAX_GAMES = 20_000;

/** A player in the store. */
interface Entry {
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
    const transaction = this.database.transaction(["players", "games"]);
    const key = keyOf(player);
    const [entry, games] = await Promise.all([
      requestResult<Entry | undefined>(
        transaction.objectStore("players").get(key),
      ),
      requestResult<PlayedGame[]>(
        transaction.objectStore("games").getAll(gamesOf(key)),
      ),
    ]);
    return { games: lastFirst(games), isComplete: entry?.isComplete ?? false };
  }

  /** Adds games that adjoin the stored games. */
  async add(
    player: Player,
    games: readonly PlayedGame[],
    isComplete: boolean,
  ): Promise<void> {
    const transaction = this.database.transaction(
      ["players", "games"],
      "readwrite",
    );
    const done = transactionEnd(transaction);
    const [players, texts] = [
      transaction.objectStore("players"),
      transaction.objectStore("games"),
    ];
    const key = keyOf(player);
    for (const game of games) texts.put({ ...game, player: key });
    const count = await requestResult(texts.count(gamesOf(key)));
    players.put({
      key,
      isComplete,
      visited: Date.now(),
      count,
    } satisfies Entry);
    const entries = await requestResult<Entry[]>(players.getAll());
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
    const transaction = this.database.transaction(
      ["players", "games"],
      "readwrite",
    );
    const key = keyOf(player);
    transaction.objectStore("players").delete(key);
    transaction.objectStore("games").delete(gamesOf(key));
    await transactionEnd(transaction);
  }
}

/** Returns the range of keys of a player's games. */
const gamesOf = (key: string) => IDBKeyRange.bound([key, ""], [key, "\uffff"]);
