/** Fetches the games of a player that are not stored yet. */
import type { PlayedGame } from "../sites/request";
import { fetchPlayed, type Player } from "./player";
import type { PlayerStore, StoredGames } from "./player-store";

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
      games: [...known.values()].sort((a, b) => b.time - a.time),
      isComplete,
    };
  }
}
