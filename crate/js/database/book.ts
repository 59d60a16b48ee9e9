// Books: the moves that games played from positions, and their results. Adds the evaluations of a database to the moves.
/// <reference lib="esnext.disposable" preserve="true" />

import { enter, isError, type ShelfishError } from "../shared/errors.js";
import { checked, isUrl, type Kinds, usage } from "../shared/options.js";
import { OpenTable } from "../shared/opened.js";
import { given, Parts } from "../shared/parts.js";
import type {
  BookManifest,
  EvaluationSource,
  Explored,
  ExploredMove,
  ExploreOptions,
  GameReference,
  LichessExplored,
  LichessGame,
  LichessMove,
  MovesOptions,
  Played,
  PlayedMove,
  PositionEval,
} from "../shared/types.js";

const MOVES: Kinds<MovesOptions> = {
  signal: "signal",
  castling: "castling",
  buckets: "texts",
};
/** Options of the module, for an answer in the shape of Lichess' opening explorer. */
const TOP_GAMES: Kinds<MovesOptions & { topGames: boolean }> = {
  ...MOVES,
  topGames: "other",
};
const EXPLORE: Kinds<ExploreOptions> = {
  ...MOVES,
  database: "other",
  openingOf: "function",
  format: "other",
};

/** An open book. `openBook` returns it. `info` of its manifest contains the number of its games and their selection. */
export class Book extends OpenTable<BookManifest> {
  #databases = new Parts();
  #openDatabase: (url: string | URL) => Promise<EvaluationSource>;

  /** @internal */
  constructor(
    reader: object,
    openDatabase: (url: string | URL) => Promise<EvaluationSource>,
  ) {
    super(reader);
    this.#openDatabase = openDatabase;
  }

  override close(): void {
    super.close();
    this.#databases.close();
  }

  /**
   * Returns the moves that were played from a position. The list is empty if no game reached the position, or if the game
   * is over.
   *
   * Rejects with a {@link ShelfishError}.
   */
  moves(fen: string, options?: MovesOptions): Promise<Played> {
    return this.lookUp("moves", [fen], options, MOVES, "one");
  }

  /**
   * Returns the moves that were played from positions, in the same order. If a position fails, its answer is the error.
   *
   * Rejects with a {@link ShelfishError} if the signal is aborted or the book is closed.
   */
  movesMany(
    fens: Iterable<string>,
    options?: MovesOptions,
  ): Promise<Array<Played | ShelfishError>> {
    return this.lookUp("movesMany", fens, options, MOVES, "all");
  }

  /**
   * Returns the moves that were played from a position, with evaluations and names of openings, or in the shape of Lichess'
   * opening explorer. If the evaluation of a move fails, the move has an `error` instead.
   *
   * Rejects with a {@link ShelfishError}.
   */
  explore(
    fen: string,
    options: ExploreOptions & { format: "lichess" },
  ): Promise<LichessExplored>;
  explore(
    fen: string,
    options?: ExploreOptions & { format?: "shelfish" | undefined },
  ): Promise<Explored>;
  explore(
    fen: string,
    options?: ExploreOptions,
  ): Promise<Explored | LichessExplored> {
    return enter(async () => {
      const { database, openingOf, format, ...rest } = checked(
        "explore",
        options,
        EXPLORE,
      );
      if (format && format !== "shelfish" && format !== "lichess") {
        throw usage(
          `format: expected "shelfish" or "lichess", found ${JSON.stringify(format)}`,
        );
      }
      if (format === "lichess")
        return toLichess(
          await this.lookUp(
            "explore",
            [fen],
            { ...rest, topGames: true },
            TOP_GAMES,
            "one",
          ),
          openingOf,
        );
      const played: Played = await this.lookUp(
        "explore",
        [fen],
        rest,
        MOVES,
        "one",
      );
      const opening = openingOf?.(played.fen);
      const { signal } = rest;
      const fens = played.moves.map((move) => move.fen);
      // A database that a URL names stays open for the next call.
      const parts = isUrl(database) ? this.#databases : new Parts();
      const open = await given(
        parts,
        isUrl(database) ? String(database) : "database",
        fens.length ? database : undefined,
        "lookupMany",
        this.#openDatabase,
        false,
      );
      const answers = await Promise.resolve(
        open?.lookupMany(fens, signal && { signal }) ?? [],
      ).finally(() => parts === this.#databases || parts.close());
      const moves = played.moves.map((move, n): ExploredMove => {
        const opening = openingOf?.(move.fen);
        return {
          ...move,
          ...evaluationOf(answers[n]),
          ...(opening && { opening }),
        };
      });
      return { ...played, moves, ...(opening && { opening }) };
    });
  }
}

/** Converts an answer with `topGames` to the shape of Lichess' opening explorer. */
function toLichess(
  {
    fen,
    white,
    draws,
    black,
    moves,
    topGames = [],
  }: Played & { topGames?: LichessGame[] },
  openingOf: ExploreOptions["openingOf"],
): LichessExplored {
  const ofMove = ({
    uci,
    san,
    fen,
    white,
    draws,
    black,
    averageRating,
    games,
  }: PlayedMove): LichessMove => {
    const rating =
      averageRating === undefined ? null : Math.round(averageRating);
    const {
      id,
      winner = null,
      rating: elo,
    }: Partial<GameReference> = (white + draws + black === 1 && games?.[0]) ||
    {};
    const game = id ? { uci, id, winner, ...(elo && { rating: elo }) } : null;
    return {
      uci,
      san,
      averageRating: rating,
      white,
      draws,
      black,
      game,
      opening: openingOf?.(fen) ?? null,
    };
  };
  return {
    white,
    draws,
    black,
    moves: moves.map(ofMove),
    topGames,
    recentGames: [],
    opening: openingOf?.(fen) ?? null,
  };
}

/** Returns the evaluation or the error of an answer. A game that is over has neither. */
function evaluationOf(
  answer: PositionEval | Error | null | undefined,
): Partial<ExploredMove> {
  if (isError(answer)) {
    const error = answer as ShelfishError;
    return error.code === "over" ? {} : { error };
  }
  return answer ? { evaluation: answer } : {};
}
