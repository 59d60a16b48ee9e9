// Types of books.

import type { ShelfishError } from "../shared/errors.js";
import type {
  Manifest,
  Opening,
  PositionEval,
  Score,
} from "../shared/types.js";

/** Numbers of games by result. */
export interface Results {
  /** Wins of White. */
  white: number;
  /** Draws. */
  draws: number;
  /** Wins of Black. */
  black: number;
}

/** The games of a bucket. */
export interface BucketResults extends Results {
  /** Mean rating of the games, if the book contains ratings. */
  averageRating?: number;
}

/** Results of games, with the optional parts of the book: see `shelfish book build --help`. */
export interface Games extends BucketResults {
  /** Results by bucket, in the order of {@link BookManifest.buckets}, if the book has several buckets. Not affected by the option `buckets`. */
  buckets?: BucketResults[];
  /** Some of the games in all buckets, highest rating first, if the book contains references. */
  games?: GameReference[];
}

/** A reference to a game: on Lichess, or in a source of the book. */
export interface GameReference {
  /** Id on Lichess. */
  id?: string;
  /** URL on Lichess. */
  url?: string;
  /** Name of the source. */
  source?: string;
  /** Number of the game in the source, from 1. */
  number?: number;
  /** The winner; `null` for a draw. */
  winner: "white" | "black" | null;
  /** Mean rating of the players. */
  rating?: number;
}

/** A move and the results of the games that played it. */
export interface PlayedMove extends Games {
  /** The move in UCI. */
  uci: string;
  /** The move in SAN. */
  san: string;
  /** The position after the move: the first four fields of FEN. */
  fen: string;
  /** Share of the games that reached the position, from 0 to 1. */
  share: number;
  /** Points per game of the side to move, from 0 to 1: wins and half of the draws. */
  score: number;
}

/** A position, the results of the games that reached it, and their moves. A game counts once for a position. */
export interface Played<M extends PlayedMove = PlayedMove> extends Omit<
  Games,
  "games"
> {
  /** The canonical position: the first four fields of FEN. */
  fen: string;
  /** The games whose moves end here. */
  ended: Games;
  /** The moves, most played first; empty if no game reached the position. */
  moves: M[];
}

/** The best evaluation of the position after a move, from White's point of view. */
export type MoveEvaluation = Score & {
  /** The score as text: `"+0.20"`, `"#-5"`. */
  score: string;
  /** Search depth in plies. */
  depth: number;
};

/** A move with its evaluation and opening. */
export interface ExploredMove extends PlayedMove {
  /** Evaluation, if the database contains the position. */
  evaluation?: MoveEvaluation;
  /** Error of the lookup, if it failed. */
  error?: ShelfishError;
  /** Name of the opening after the move, if the opening has a name. */
  opening?: Opening;
}

/** Moves with their evaluations and openings. */
export interface Explored extends Played<ExploredMove> {
  /** Name of the opening, if the opening has a name. */
  opening?: Opening;
}

/** The shape of Lichess' opening explorer. Values that the book lacks are `null` or omitted. */
export interface LichessExplored extends Results {
  opening: Opening | null;
  moves: LichessMove[];
  /** The games on Lichess with the highest ratings: at most 15. */
  topGames: LichessGame[];
  recentGames: never[];
}

/** A move in the shape of Lichess' opening explorer. */
export interface LichessMove extends Results {
  uci: string;
  san: string;
  averageRating: number | null;
  /** The only game that played the move, if it is on Lichess. */
  game: LichessGame | null;
  opening: Opening | null;
}

/** A game in the shape of Lichess' opening explorer. */
export interface LichessGame {
  uci: string;
  id: string;
  winner: "white" | "black" | null;
  /** Mean rating of the players, instead of their names. */
  rating?: number;
}

/** Options of `moves` and `movesMany`. */
export interface MovesOptions {
  /** Aborts the lookup. Requests in flight continue, for the next lookup. */
  signal?: AbortSignal | undefined;
  /** Notation of castling in `uci`: `"standard"` (`e1g1`, default) or `"chess960"` (`e1h1`). */
  castling?: "standard" | "chess960" | undefined;
  /** Names of the buckets whose games count, from {@link BookManifest.buckets}. Default all. */
  buckets?: string[] | undefined;
}

/** A `Database` of `shelfish` or `shelfish/worker`. */
export interface EvaluationSource {
  lookupMany(
    fens: string[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<ReadonlyArray<Pick<PositionEval, "best"> | ShelfishError | null>>;
}

/** Options of `explore`. */
export interface ExploreOptions extends MovesOptions {
  /** Database of evaluations. All moves are looked up by a single call. */
  database?: EvaluationSource | undefined;
  /** Finds the name of an opening by FEN, like `openingOf` of `shelfish/openings`. */
  openingOf?: ((fen: string) => Opening | undefined) | undefined;
  /** `"lichess"` returns the shape of Lichess' opening explorer. */
  format?: "shelfish" | "lichess" | undefined;
}

/** The manifest of a book. */
export interface BookManifest extends Omit<Manifest, "evaluations" | "pvs"> {
  /** Number of moves of all positions. */
  moves: number;
  /** The buckets of the games; empty if the book does not divide them. */
  buckets: BookBucket[];
}

/** A bucket of a book. */
export interface BookBucket {
  /** `"blitz 1600-1999"`, `"2400-2599, years 1990-2009"` */
  name: string;
  /** Speed of the games on Lichess, if the book divides games by speed. */
  speed?:
    | "ultraBullet"
    | "bullet"
    | "blitz"
    | "rapid"
    | "classical"
    | "correspondence";
  /** Lowest and highest rating, `null` without a bound, if the book divides games by rating. */
  ratings?: [number | null, number | null];
  /** First and last year, `null` without a bound, if the book divides games by year. */
  years?: [number | null, number | null];
}
