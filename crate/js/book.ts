// Books: what was played from positions and how it went on, with evaluations from a database next to the moves.
/// <reference lib="esnext.disposable" preserve="true" />

import { connect, texts } from "./connect.js";
import { ShelfishError } from "./errors.js";
import { type Database as Reader, imports, open, start } from "./shelfish_book.js";
import type { LookupOptions, Manifest, OpenOptions, Opening, PositionEval, Score, Source, Stats } from "./types.js";

export { type ErrorCode, type ErrorFields, ShelfishError } from "./errors.js";
export type { FetchedRange, Manifest, OpenOptions, Opening, Score, Shard, Source, Stats, Wasm } from "./types.js";

const MODULE = {
  imports,
  start,
  entry: "shelfish/book",
  file: "shelfish_book_bg.wasm",
  call: "openBook(url, { wasm })",
};

/** How games ended. */
export interface Results {
  /** Games that White won. */
  white: number;
  /** Games that nobody won. */
  draws: number;
  /** Games that Black won. */
  black: number;
}

/** The games of a bucket. */
export interface BucketResults extends Results {
  /** The mean of the games' ratings, if the book tells of ratings and any has one. */
  averageRating?: number;
}

/** Games that went the same way, with what else the book tells of them: see `shelfish build --help`. */
export interface Games extends BucketResults {
  /** The games in each of {@link BookManifest.buckets}, in their order, whatever was chosen; if the book has more than one. */
  buckets?: BucketResults[];
  /** Some of the games, those with the highest ratings first, whatever their bucket; if the book has references. */
  games?: GameReference[];
}

/** A game that a book refers to: one of Lichess, or one of a source of the book. */
export interface GameReference {
  /** Its id on Lichess. */
  id?: string;
  /** Its address on Lichess. */
  url?: string;
  /** The name of the source that it is in. */
  source?: string;
  /** Its number in that source, from 1. */
  number?: number;
  /** Who won; `null` if it was drawn. */
  winner: "white" | "black" | null;
  /** The mean of its players' ratings. */
  rating?: number;
}

/** A move that was played, and the results of the games that played it. */
export interface PlayedMove extends Games {
  /** The move in UCI. */
  uci: string;
  /** The move in SAN. */
  san: string;
  /** The position that it leads to: the first four fields of FEN. */
  fen: string;
  /** Of the games that reached the position, from 0 to 1. */
  share: number;
  /** Of the side that moves, from 0 to 1: wins and half of the draws. */
  score: number;
}

/** A position, the results of the games that reached it, and what they played. A position counts once a game. */
export interface Played<M extends PlayedMove = PlayedMove> extends Omit<Games, "games"> {
  /** The position: canonical, the first four fields of FEN. */
  fen: string;
  /** The games whose moves end here. */
  ended: Games;
  /** The moves, most played first; none if no game reached the position. */
  moves: M[];
}

/** The best evaluation of the position that a move leads to, from White's point of view. */
export type MoveEvaluation = Score & {
  /** The score in words: `"+0.20"`, `"#-5"`. */
  score: string;
  /** Search depth in plies. */
  depth: number;
};

/** A move that was played, and what it leads to. */
export interface ExploredMove extends PlayedMove {
  /** Its evaluation, if the database has one. */
  evaluation?: MoveEvaluation;
  /** Why its evaluation could not be had, if that went wrong. */
  error?: ShelfishError;
  /** The name of the opening that it leads to, if it has one. */
  opening?: Opening;
}

/** What was played from a position, with all that is known of the moves. */
export interface Explored extends Played<ExploredMove> {
  /** The name of the opening, if the position has one. */
  opening?: Opening;
}

/** The answer of Lichess' opening explorer. What the book does not know of is `null` or left out. */
export interface LichessExplored extends Results {
  opening: Opening | null;
  moves: LichessMove[];
  /** The games of Lichess with the highest ratings that the book refers to. */
  topGames: LichessGame[];
  recentGames: never[];
}

/** A move as Lichess' opening explorer tells it. */
export interface LichessMove extends Results {
  uci: string;
  san: string;
  averageRating: number | null;
  /** The only game that played it, if it is one of Lichess. */
  game: LichessGame | null;
  opening: Opening | null;
}

/** A game as Lichess' opening explorer tells it, as far as a book knows. */
export interface LichessGame {
  uci: string;
  id: string;
  winner: "white" | "black" | null;
  /** The mean of the players' ratings, in the place of their names. */
  rating?: number;
}

/** How moves are told. */
export interface MovesOptions {
  /** Aborts the lookup. Requests that are under way go on, for the lookup that comes next. */
  signal?: AbortSignal | undefined;
  /** How castling is written in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** The names of the buckets whose games count, of {@link BookManifest.buckets}; all if left out. */
  buckets?: string[] | undefined;
}

/** Where evaluations come from: a `Database` of `shelfish` or `shelfish/worker`. */
export interface Evaluations {
  lookupMany(
    fens: string[],
    options?: Pick<LookupOptions, "signal">,
  ): Promise<ReadonlyArray<Pick<PositionEval, "best"> | ShelfishError | null>>;
}

/** What is told beside the moves. */
export interface ExploreOptions extends MovesOptions {
  /** The evaluations that are told beside the moves: those of all moves are looked up at once. */
  database?: Evaluations | undefined;
  /** Names of openings by FEN: `openingOf` of `shelfish/openings`, or one of yours. */
  openingOf?: ((fen: string) => Opening | undefined) | undefined;
  /** `"lichess"` answers as Lichess' opening explorer does. */
  format?: "shelfish" | "lichess" | undefined;
}

/** What a book says of itself. */
export interface BookManifest extends Omit<Manifest, "evaluations" | "pvs"> {
  /** Moves of all positions. */
  moves: number;
  /** The buckets that games are told apart by; none if all are in one. */
  buckets: BookBucket[];
}

/** A bucket of a book. */
export interface BookBucket {
  /** `"blitz 1600-1999"` */
  name: string;
  /** The speed of its games, as Lichess calls it, if games are told apart by it and these have one. */
  speed?: "ultraBullet" | "bullet" | "blitz" | "rapid" | "classical" | "correspondence";
  /** The least and the most rating of its games, `null` where there is no such, if games are told apart by it and these have one. */
  ratings?: [number | null, number | null];
}

/** An open book. */
export class Book {
  #reader: Reader;

  /** @internal Use {@link openBook}. */
  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** What the book says of itself; `info` has the number of its games and how they were selected. */
  get manifest(): BookManifest {
    return this.#reader.manifest();
  }

  /**
   * What was played from a position. Of one that no game reached, or in which the game is over, there are no moves.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async moves(fen: string, options?: MovesOptions): Promise<Played> {
    return this.#reader.lookup(String(fen), options);
  }

  /**
   * What was played from positions, answers in the same order. What cannot be answered has its error as its entry.
   *
   * Rejects with a {@link ShelfishError} if it was aborted or the book closed.
   */
  async movesMany(fens: Iterable<string>, options?: MovesOptions): Promise<Array<Played | ShelfishError>> {
    return this.#reader.lookupMany(texts("movesMany", fens), options, true);
  }

  /**
   * What was played from a position, with evaluations and names of openings beside the moves, or in the shape of Lichess'
   * opening explorer. A move whose evaluation cannot be had is told without it.
   *
   * Rejects with a {@link ShelfishError}.
   */
  async explore(fen: string, options: ExploreOptions & { format: "lichess" }): Promise<LichessExplored>;
  async explore(fen: string, options?: ExploreOptions & { format?: "shelfish" | undefined }): Promise<Explored>;
  async explore(fen: string, options: ExploreOptions = {}): Promise<Explored | LichessExplored> {
    const { database, openingOf, format, ...rest } = options;
    const played = await this.moves(fen, rest);
    const opening = openingOf?.(played.fen);
    if (format === "lichess") {
      return lichess(played, openingOf);
    }
    const { signal } = rest;
    const fens = played.moves.map((move) => move.fen);
    const answers = database && fens.length > 0 ? await database.lookupMany(fens, signal && { signal }) : [];
    const moves = played.moves.map((move, n): ExploredMove => {
      const opening = openingOf?.(move.fen);
      return { ...move, ...told(answers[n]), ...(opening && { opening }) };
    });
    return { ...played, moves, ...(opening && { opening }) };
  }

  /** Fetches what the answers for positions will take, so that they need no request. Those that fail are passed over. */
  async prefetch(fens: Iterable<string>, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#reader.lookupMany(texts("prefetch", fens), options, false);
  }

  /** Forgets all that is kept of this book, in memory and in IndexedDB. */
  async clear(): Promise<void> {
    return this.#reader.clear();
  }

  /** What was done since the book was opened. */
  stats(): Stats {
    return this.#reader.stats();
  }

  /** Frees what the book holds in memory; lookups under way reject with code `closed`. May be called again. */
  close(): void {
    this.#reader.close();
  }

  /** Closes it at the end of a block: `using book = await openBook(url)`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Games that Lichess' opening explorer tells of a position. */
const TOP_GAMES = 4;

/** What was played, in the shape of Lichess' opening explorer. */
function lichess(played: Played, openingOf: ExploreOptions["openingOf"]): LichessExplored {
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

/** What an answer says of a move. Of a game that is over there is nothing to evaluate. */
function told(answer: Pick<PositionEval, "best"> | ShelfishError | null | undefined): Partial<ExploredMove> {
  if (answer instanceof ShelfishError) {
    return answer.code === "over" ? {} : { error: answer };
  }
  if (!answer) return {};
  const { depth, pvs } = answer.best;
  const { score, cp, mate } = pvs[0];
  return { evaluation: mate === undefined ? { cp, score, depth } : { mate, score, depth } };
}

/**
 * Opens a book, which `shelfish build GAMES.pgn` makes, by the URL of its `manifest.json`, or of the folder it is in with
 * a slash at its end; in Node also by the path of a folder. Options are those of `openDatabase`.
 *
 * The module is loaded by the first call; it is another one than that of evaluations.
 *
 * Rejects with a {@link ShelfishError}; with code `manifest` if there are evaluations at the URL.
 */
export async function openBook(book: string | URL | Source, options?: OpenOptions): Promise<Book> {
  return new Book(await connect(MODULE, open, book, options));
}
