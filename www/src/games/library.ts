/** The games that can be opened from the menu: famous games, and opened games, which are stored in this browser. */
import { type Game, moveText, movesOf, type Node } from "../game/game";
import { gameId } from "../game/identity";
import { Latest, loadOnce, loadPart } from "../loading/loading";
import type { Checked } from "../game/read-pgn";
import type { Famous } from "./famous-games";
import type { Judged } from "../state/state";
import type { GameEntry, GameStore, Stored } from "./game-store";

const RECENT = 20;

const BATCH = 500;

const NO_ROOM =
  "This browser does not store more games: they are lost when you close the page.";

/** Games of a file get times that differ by this part of a millisecond, which keeps their order. */
const FRACTION = 1_000;

/** Dispatches "change" after each change of `recent` or `offered`. */
export class Library extends EventTarget {
  recent: readonly GameEntry[] = [];
  /** The famous games, once they are loaded. */
  offered: readonly Famous[] = [];
  /** Why some games are not stored; empty if all are stored. */
  remark = "";
  /** Games that were on the board, with the moves that were added to them. By slug or id. */
  readonly #loaded = new Map<string, Game>();
  /** The games of the last large file, by id. */
  readonly #held = new Map<string, Stored>();
  readonly #file = new Latest();
  /** What the table says about the file. */
  fileRemark = "";
  /** Ends when the last changes are stored. */
  #saving: Promise<void> = Promise.resolve();

  readonly offer = loadOnce(async () => {
    const { famous } = await loadPart(import("./famous-games"));
    this.offered = famous;
    this.#changed();
    return famous;
  });

  /** Returns the famous game with this name, with the moves that were added to it during the visit. */
  async famous(slug: string): Promise<Game | undefined> {
    const offered = await this.offer();
    const game =
      this.#loaded.get(slug) ??
      (await offered.find((each) => each.slug === slug)?.load());
    if (game) this.#loaded.set(slug, game);
    return game;
  }

  /** Returns the copy of the game that was on the board before, with its added moves, unless `game` has more moves and notes. */
  same(game: Game): Game {
    if (!game.id) return game;
    const known = this.#loaded.get(game.id);
    // A game whose main line was changed has another id.
    if (known?.id === game.id && contentSize(known) >= contentSize(game)) {
      if (game.lichess) known.lichess = game.lichess;
      return known;
    }
    this.#loaded.set(game.id, game);
    return game;
  }

  /** Returns a stored game by its id, or by its source such as "lichess:q7ZvsdUF". */
  async stored(key: string): Promise<Game | undefined> {
    const loaded = this.#loaded.get(key);
    if (loaded?.id === key) return loaded;
    const [, lichess] = key.split(":");
    const game = await this.#stored(key);
    if (game && lichess) game.lichess = lichess;
    return game && this.same(game);
  }

  /** Reads a game from the store, by its id or source. */
  async #stored(key: string): Promise<Game | undefined> {
    const stored = await this.store()
      .then((store) => store.find(key))
      .catch(() => undefined)
      .then((found) => found ?? this.#held.get(key));
    if (!stored) return undefined;
    const { read } = await loadPart(import("../game/read-pgn"));
    const [game] = (await read(stored.text)).games;
    if (!game) return undefined;
    if (this.#held.has(key)) {
      // The row then shows the report of the stored game.
      this.#held.set(key, { ...stored, id: game.id ?? key });
      return game;
    }
    // The text contains moves that were added after the game's own moves.
    game.id = stored.id;
    game.sourcePlies = Math.min(stored.plies, game.sourcePlies);
    return game;
  }

  /** Begins a table of the games of a file, and returns a signal that the next file aborts. */
  beginFile(): AbortSignal {
    this.#held.clear();
    this.fileRemark = "";
    return this.#file.begin();
  }

  /** Adds games to the table. Dispatches "held". */
  hold(games: readonly Stored[], remark: string): void {
    for (const game of games) this.#held.set(game.id, game);
    this.fileRemark = remark;
    this.dispatchEvent(new Event("held"));
  }

  /** Returns the games of the file, then the other stored games. */
  withHeld(stored: readonly GameEntry[]): GameEntry[] {
    const byId = new Map(stored.map((entry) => [entry.id, entry]));
    const held = [...this.#held.values()].map((game) => {
      const entry = byId.get(game.id);
      byId.delete(game.id);
      return entry ?? game;
    });
    return [...held, ...byId.values()];
  }

  /** Removes a game, or all games, from the list and the table. */
  async remove(id?: string): Promise<void> {
    const store = await this.store();
    if (id === undefined) this.beginFile();
    else
      for (const [key, held] of this.#held)
        if (held.id === id) this.#held.delete(key);
    await (id === undefined ? store.clear() : store.remove(id));
    await this.refresh();
  }

  /** Stores games that were checked but not built; the first game becomes the newest. */
  keep(games: readonly Checked[]): Promise<void> {
    return this.#put(async (now) => {
      const { ofText } = await import("./game-store");
      return games.map((game, index) => ofText(game, now - index / FRACTION));
    });
  }

  /** Stores games of the board; the first game becomes the newest. */
  async keepGames(games: readonly Game[]): Promise<void> {
    const own = games.flatMap((game) =>
      game.id && !game.slug ? [[game, game.id] as const] : [],
    );
    if (own.length === 0) return;
    await this.#put(async (now) => {
      const { ofBoard } = await import("./game-store");
      return own.map(([game, id], index) =>
        ofBoard(game, id, now - index / FRACTION),
      );
    });
  }

  /** Stores the changes of a game of the list, or of a game with players. Later calls wait for earlier calls. */
  save(game: Game): Promise<void> {
    // The id may change again before the game is stored.
    const { id, formerId } = game;
    if (!id || game.slug) return this.#saving;
    return (this.#saving = this.#saving.then(() =>
      this.#save(game, id, formerId),
    ));
  }

  async #save(
    game: Game,
    id: string,
    formerId: string | undefined,
  ): Promise<void> {
    try {
      const store = await this.store();
      const isListed = async (key: string | undefined) =>
        key !== undefined && (await store.find(key)) !== undefined;
      if (
        game.headers.size === 0 &&
        !(await isListed(id)) &&
        !(await isListed(formerId))
      )
        return;
      const { ofBoard } = await import("./game-store");
      await store.replace(ofBoard(game, id, Date.now()), formerId);
      this.#loaded.set(id, game);
    } catch {
      this.remark = NO_ROOM;
    }
    await this.refresh().catch(() => this.#changed());
  }

  /** Returns the settled report of the game's main line, if it was stored. */
  async report(game: Game): Promise<Judged | undefined> {
    return this.store()
      .then((store) => store.report(lineId(game)))
      .catch(() => undefined);
  }

  /** Stores the settled report of the game's main line. */
  async keepReport(game: Game, settled: Judged): Promise<void> {
    const [key, summary] = [lineId(game), summaryOf(game, settled)];
    await this.store()
      .then((store) => store.keepReport(key, settled, summary))
      .catch(() => {});
  }

  /** Returns the store, which the first call opens. */
  readonly store = loadOnce(async (): Promise<GameStore> =>
    (await loadPart(import("./game-store"))).openStore(),
  );

  /** Reads the last opened games from the store. */
  async refresh(): Promise<void> {
    const store = await this.store();
    this.recent = await store.list(RECENT);
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event("change"));
  }

  async #put(load: (now: number) => Promise<Stored[]>): Promise<void> {
    const now = Date.now();
    try {
      const games = await load(now);
      const store = await this.store();
      let removed = 0;
      // Oldest first, in batches: the page stays responsive between them.
      for (let end = games.length; end > 0; end -= BATCH)
        removed += await store.keep(games.slice(Math.max(0, end - BATCH), end));
      this.remark =
        removed > 0
          ? `The list is full: ${removed === 1 ? "the oldest game was" : `the ${removed} oldest games were`} removed from it.`
          : "";
    } catch {
      this.remark = NO_ROOM;
    }
    await this.refresh().catch(() => this.#changed());
  }
}

/** Returns the id that the game has if its main line is its own. */
const lineId = (game: Game): string =>
  gameId(game.root.position, movesOf(game.mainline()), game.headers);

/** Returns the accuracy of both sides, their blunders and the worst move: "accuracy 93.4 – 81.0 · blunders 0 – 2 · worst 31. Qxb7". */
function summaryOf(game: Game, { report }: Judged): string {
  const { white, black, moves } = report;
  const [first, second] = [white, black].map(
    ({ accuracy }) => accuracy?.toFixed(1) ?? "?",
  );
  const worst = moves
    .filter(({ judgment }) => judgment)
    .sort((a, b) => (b.loss ?? 0) - (a.loss ?? 0))[0];
  const node = worst && game.mainline()[worst.ply];
  return [
    `accuracy ${first} – ${second}`,
    `blunders ${white.blunders} – ${black.blunders}`,
    ...(node ? [`worst ${moveText(node, true)}`] : []),
  ].join(" · ");
}

/** Measures the moves and notes of a game. */
function contentSize(game: Game): number {
  let sum = 0;
  for (const open = [game.root]; open.length > 0; sum += 1) {
    const node = open.pop() as Node;
    sum += JSON.stringify(node.notes).length;
    open.push(...node.children);
  }
  return sum;
}
