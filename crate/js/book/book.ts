// Books: the moves that games played from positions, and their results. Adds the evaluations of a database to the moves.
/// <reference lib="esnext.disposable" preserve="true" />

import { connect } from "../shared/connect.js";
import { ShelfishError } from "../shared/errors.js";
import { fenList } from "../shared/options.js";
import type { OpenOptions, PositionEval, Source, Stats } from "../shared/types.js";
import { type Database as Reader, imports, open, start } from "../shelfish_book.js";
import type {
  BookManifest,
  Explored,
  ExploredMove,
  ExploreOptions,
  LichessExplored,
  LichessGame,
  LichessMove,
  MovesOptions,
  Played,
} from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "../shared/errors.js";
export type { FetchedRange, Manifest, OpenOptions, Opening, Score, Shard, Source, Stats, Wasm } from "../shared/types.js";
export type * from "./types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/book",
  file: "shelfish_book_bg.wasm",
  call: "openBook(url, { wasm })",
};

/** An open book. */
export class Book {
  #reader: Reader;

  /** @internal Use {@link openBook}. */
  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The manifest of the book. `info` contains the number of its games and their selection. */
  get manifest(): BookManifest {
    return this.#reader.manifest();
  }

  /**
   * Returns the moves that were played from a position. The list is empty if no game reached the position, or if the game
   * is over.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async moves(fen: string, options?: MovesOptions): Promise<Played> {
    return this.#reader.lookup(String(fen), options);
  }

  /**
   * Returns the moves that were played from positions, in the same order. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the book is closed.
   */
  async movesMany(fens: Iterable<string>, options?: MovesOptions): Promise<Array<Played | ShelfishError>> {
    return this.#reader.lookupMany(fenList("movesMany", fens), options, true);
  }

  /**
   * Returns the moves that were played from a position, with evaluations and names of openings, or in the shape of Lichess'
   * opening explorer. If the evaluation of a move fails, the move has an `error` instead.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async explore(fen: string, options: ExploreOptions & { format: "lichess" }): Promise<LichessExplored>;
  async explore(fen: string, options?: ExploreOptions & { format?: "shelfish" | undefined }): Promise<Explored>;
  async explore(fen: string, options: ExploreOptions = {}): Promise<Explored | LichessExplored> {
    const { database, openingOf, format, ...rest } = options;
    const played = await this.moves(fen, rest);
    const opening = openingOf?.(played.fen);
    if (format === "lichess") return toLichess(played, openingOf);
    const { signal } = rest;
    const fens = played.moves.map((move) => move.fen);
    const answers = database && fens.length > 0 ? await database.lookupMany(fens, signal && { signal }) : [];
    const moves = played.moves.map((move, n): ExploredMove => {
      const opening = openingOf?.(move.fen);
      return { ...move, ...evaluationOf(answers[n]), ...(opening && { opening }) };
    });
    return { ...played, moves, ...(opening && { opening }) };
  }

  /** Fetches the blocks of positions, so that their answers need no request. Ignores positions that fail. */
  async prefetch(fens: Iterable<string>, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#reader.lookupMany(fenList("prefetch", fens), options, false);
  }

  /** Clears the caches of this book in memory and in IndexedDB. */
  async clear(): Promise<void> {
    return this.#reader.clear();
  }

  /** Returns totals since the book was opened. */
  stats(): Stats {
    return this.#reader.stats();
  }

  /** Frees the memory. Lookups in progress reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes the book at the end of a block: `using book = await openBook(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Maximum number of games in `topGames`, as in `shelfish explore --json`. */
const TOP_GAMES = 15;

/** Converts an answer to the shape of Lichess' opening explorer. */
function toLichess(played: Played, openingOf: ExploreOptions["openingOf"]): LichessExplored {
  const topGames: LichessGame[] = [];
  const moves = played.moves.map(({ uci, san, fen, white, draws, black, averageRating, games = [] }): LichessMove => {
    const known = games.flatMap(({ id, winner, rating }) => (id === undefined ? [] : [{ uci, id, winner, ...(rating !== undefined && { rating }) }]));
    topGames.push(...known);
    const game = white + draws + black === 1 ? (known[0] ?? null) : null;
    const rating = averageRating === undefined ? null : Math.round(averageRating);
    return { uci, san, averageRating: rating, white, draws, black, game, opening: openingOf?.(fen) ?? null };
  });
  topGames.sort((a, b) => (b.rating ?? 0) - (a.rating ?? 0));
  const { white, draws, black } = played;
  return { white, draws, black, moves, topGames: topGames.slice(0, TOP_GAMES), recentGames: [], opening: openingOf?.(played.fen) ?? null };
}

/** Returns the evaluation or the error of an answer. A game that is over has neither. */
function evaluationOf(answer: Pick<PositionEval, "best"> | ShelfishError | null | undefined): Partial<ExploredMove> {
  if (answer instanceof ShelfishError) return answer.code === "over" ? {} : { error: answer };
  if (!answer) return {};
  const { depth, pvs } = answer.best;
  const { score, cp, mate } = pvs[0];
  return { evaluation: mate === undefined ? { cp, score, depth } : { mate, score, depth } };
}

/**
 * Opens a book of `shelfish book build GAMES.pgn` by the URL of its `manifest.json`, or of its folder with a slash at the end. In
 * Node also by the path of a folder. The options are those of `openDatabase`.
 *
 * The first call loads the WASM module, which is not the module of evaluations.
 *
 * Rejects with a {@link ShelfishError}, with code `manifest` if the URL has a database of evaluations.
 */
export async function openBook(book: string | URL | Source, options?: OpenOptions): Promise<Book> {
  return new Book(await connect(MODULE, open, book, options));
}
