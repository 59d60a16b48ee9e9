/** The games at hand: famous ones, and those that were opened, which are kept in this browser. */
import type { Famous } from "./famous-games";
import type { Game, Node } from "../game/game";
import { once } from "../loading/load-once";
import { part } from "../loading/page-part";
import type { Checked } from "../pgn/read-game";
import type { Source } from "../pgn/split";
import type { Entry, GameStore, Stored } from "./game-store";

/** How many games the menu has. */
const RECENT = 20;

/** How many games are written at once. */
const BATCH = 500;

/** Parts of a millisecond that tell the games of a file apart: times of today have no room for much smaller ones. */
const FINE = 1_000;

/** All games that can be put on the board. */
export class Library {
  /** The games opened last. */
  recent: readonly Entry[] = [];
  /** The famous games, once they are loaded. */
  offered: readonly Famous[] = [];
  /** Why games are not kept, or not all of them; empty if all is well. */
  remark = "";
  /** Games that were on the board: they keep the moves that were tried in them. By slug or id. */
  readonly #loaded = new Map<string, Game>();
  readonly #famousIds = new Map<string, string>();
  #store: Promise<GameStore> | undefined;

  /** `changed` is called when `recent` or `offered` has. */
  constructor(private readonly changed: () => void) {}

  /** Loads the famous games, which the first evaluation does not wait for. */
  readonly offer = once(async () => {
    const { famous } = await part(import("./famous-games"));
    this.offered = famous;
    this.changed();
    return famous;
  });

  /** The famous game of this name. */
  async famous(slug: string): Promise<Game | undefined> {
    const game = this.#loaded.get(slug) ?? (await this.offer()).find((each) => each.slug === slug)?.load();
    if (!game) return undefined;
    this.#loaded.set(slug, game);
    if (game.id) this.#famousIds.set(game.id, slug);
    return game;
  }

  /** The copy of a game that was on the board before, unless this one says more; it keeps the moves that were tried. */
  same(game: Game): Game {
    if (!game.id) return game;
    const slug = this.#famousIds.get(game.id);
    const known = this.#loaded.get(slug ?? game.id);
    if (known && (slug || told(known) >= told(game))) {
      if (game.origin?.id) known.origin = game.origin;
      return known;
    }
    this.#loaded.set(game.id, game);
    return game;
  }

  /** A stored game, by its id or by its source, such as "lichess:q7ZvsdUF". */
  async stored(key: string): Promise<Game | undefined> {
    const loaded = this.#loaded.get(key);
    if (loaded) return loaded;
    const text = await (await this.store()).text(key).catch(() => undefined);
    if (text === undefined) return undefined;
    const { read } = await part(import("../pgn/read-text"));
    const [game] = read(text).games;
    const [site, id] = key.split(":");
    if (game && site && id) game.origin = { ...game.origin, site, id };
    return game && this.same(game);
  }

  /** Keeps games that were checked, newest first. */
  keep(games: readonly (Source & Checked)[]): Promise<void> {
    const now = Date.now();
    return this.#put(async () => {
      const { ofText } = await import("./stored-game");
      return games.map((game, index) => ofText(game, now - index / FINE));
    });
  }

  /** Keeps games that were built, newest first. */
  async keepGames(games: readonly Game[]): Promise<void> {
    const own = games.flatMap((game) => (game.id && !game.slug ? [[game, game.id] as const] : []));
    if (own.length === 0) return;
    const now = Date.now();
    await this.#put(async () => {
      const { ofBoard } = await import("./stored-game");
      return own.map(([game, id], index) => ofBoard(game, id, now - index / FINE));
    });
  }

  /** The store, opened when it is first needed. */
  store(): Promise<GameStore> {
    return (this.#store ??= part(import("./game-store")).then(({ openStore }) => openStore()));
  }

  /** Looks again which games were opened last. */
  async refresh(): Promise<void> {
    const store = await this.store();
    this.recent = await store.list(RECENT);
    if (!store.isLasting) this.remark = "This browser keeps nothing for this page: games that you open are forgotten when it is closed.";
    this.changed();
  }

  async #put(load: () => Promise<Stored[]>): Promise<void> {
    try {
      const games = await load();
      const store = await this.store();
      let removed = 0;
      // Oldest first, in parts between which the page can do other things.
      for (let end = games.length; end > 0; end -= BATCH) removed += await store.keep(games.slice(Math.max(0, end - BATCH), end));
      this.remark = removed > 0 ? `The list is full: ${removed === 1 ? "the oldest game was" : `the ${removed} oldest games were`} removed from it.` : "";
    } catch {
      this.remark = "There is no room to keep games in this browser.";
    }
    await this.refresh().catch(() => this.changed());
  }
}

/** How much a game says, in moves and in notes to them. */
function told(game: Game): number {
  let sum = 0;
  for (const open = [game.root]; open.length > 0; sum += 1) {
    const node = open.pop() as Node;
    sum += JSON.stringify(node.notes).length;
    open.push(...node.children);
  }
  return sum;
}
