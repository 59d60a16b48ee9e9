// Answers requests to the APIs of Lichess from static databases, as `shelfish serve --api` does.

import type { Book } from "../database/book.js";
import type { Database } from "../database/database.js";
import type { Endgames } from "../endgames.js";
import {
  checked,
  isUrl,
  type Kinds,
  urlText,
  usage,
} from "../shared/options.js";
import type { ErrorFields } from "../shared/errors.js";
import { awaited, by, given, Parts } from "../shared/parts.js";
import type { EndgameMove, LichessGame, Opener } from "../shared/types.js";
import { bucketsOf, filterOf, Refusal } from "./filter.js";

/** Databases that answer instead of Lichess. Requests without a database are sent to Lichess. */
export interface LichessOptions {
  /** Answers `/api/cloud-eval`. */
  database?: Opener<Database>;
  /** Answers `/masters` and `/lichess` of the opening explorer. */
  book?: Opener<Book>;
  /** Answers `/masters` instead of `book`. */
  masters?: Opener<Book>;
  /** Answers `/standard` of the tablebase. */
  endgames?: Opener<Endgames>;
  /**
   * Sends a question to Lichess whose position the database, book or tables lack, or if they cannot be read. Default `false`: the answer is
   * that of Lichess for such a position.
   */
  fallback?: boolean | undefined;
  /** Names of openings in answers of the explorer. Default `true`; their file takes 35 kB in Brotli. */
  openings?: boolean | undefined;
  /** Sends the other requests. Default the global `fetch` at the time of the call. */
  fetch?: typeof fetch | undefined;
}

/** Arguments of `fetch`. */
export type FetchArguments = Parameters<typeof fetch>;

/** A function with the signature of `fetch`. */
export interface LichessFetch {
  (...request: FetchArguments): Promise<Response>;
  /** Returns whether a database answers a request. Other requests are sent by `fetch`. */
  answers(...request: FetchArguments): boolean;
  /** Closes the databases that the function opened. Later requests open them again. */
  close(): void;
}

/** Opens databases and books by their URL. */
export type Openers = Record<
  "openDatabase" | "openBook" | "openEndgames",
  (url: string | URL, options?: object) => Promise<any>
>;

const OPTIONS: Kinds<LichessOptions> = {
  database: "other",
  book: "other",
  masters: "other",
  endgames: "other",
  fallback: "flag",
  openings: "flag",
  fetch: "function",
};

/** A kind of answer, by the last part of the path. */
type Kind = "cloud-eval" | "masters" | "lichess" | "standard";

const ADDRESS =
  /^https?:\/\/(?:lichess\.org\/api\/(cloud-eval)|(?:explorer|tablebase)\.lichess\.(?:org|ovh)\/(masters|lichess|standard))\/?(?:[?#]|$)/;

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Variants with the rules of chess. */
const VARIANTS = ["standard", "chess960", "fromPosition"];

/** Maximum numbers of moves and games in an answer, if the question does not limit them. */
const LIMITS = {
  masters: [12, 15],
  lichess: [12, 4],
} as const;

/** A question: the values of its parameters. */
type Values = (name: string) => string | undefined;

const quoted = (text: string) => JSON.stringify(text.slice(0, 40));

/** Returns the value of a parameter as a whole number. */
function whole(
  value: Values,
  name: string,
  otherwise: number,
  least = 0,
  most = Infinity,
): number {
  const text = value(name);
  if (text === undefined) return otherwise;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new Refusal(
    `${name}: expected a number${most < Infinity ? ` from ${least} to ${most}` : ""}, found ${quoted(text)}`,
  );
}

/** Returns the position of a question. */
function fenOf(value: Values, path: string): string {
  const fen = value("fen")?.replaceAll("_", " ");
  if (fen !== undefined) return fen;
  throw new Refusal(`fen: expected ${path}?fen=FEN, found no fen`);
}

/** Adds the members of Lichess' games that a book lacks, so that clients can read them. The rating is the mean of both players. */
function complete<G extends LichessGame>(game: G) {
  const player = { name: "?", rating: game.rating ?? null };
  return { ...game, white: player, black: player, year: null, month: null };
}

/** Creates the adapter. `load` loads the functions that open databases. */
export function adapter(
  load: () => Promise<Openers>,
  chosen: LichessOptions,
): LichessFetch {
  const options = awaited(checked("lichessFetch", chosen, OPTIONS));
  const { database, book, masters, endgames } = options;
  const origins = { database, book, masters, endgames };
  for (const [name, url] of Object.entries(origins))
    if (isUrl(url)) urlText(`lichessFetch: ${name}`, url);
  if (!Object.values(origins).some(Boolean))
    throw usage(
      "lichessFetch: expected database, book, masters or endgames, found none; is a variable not set?",
    );
  const send = options.fetch ?? globalThis.fetch;
  const parts = new Parts();
  const sources = {
    "cloud-eval": database,
    masters: masters ?? book,
    lichess: book,
    standard: endgames,
  };

  const openDatabase = async () =>
    (await given<Database>(parts, "database", database, "lookup", async (url) =>
      (await load()).openDatabase(url, by("shelfish/lichess")),
    ))!;
  const openBook = async (kind: Kind) => {
    const name = kind === "masters" && masters ? "masters" : "book";
    return (await given<Book>(
      parts,
      name,
      options[name],
      "explore",
      async (url) => (await load()).openBook(url, by("shelfish/lichess")),
    ))!;
  };

  /** Returns the kind, the URL and the signal of a request, or `undefined` if Lichess answers. */
  function read(...[input, init]: FetchArguments) {
    const request =
      typeof input === "object" && "url" in input ? input : undefined;
    let url: URL;
    try {
      url = new URL(request?.url ?? String(input), globalThis.location?.href);
    } catch {
      return undefined;
    }
    const [, cloud, explorer] = ADDRESS.exec(url.href) ?? [];
    const kind = (cloud ?? explorer) as Kind | undefined;
    const method = init?.method ?? request?.method ?? "GET";
    if (!kind || !sources[kind] || method.toUpperCase() !== "GET")
      return undefined;
    return { kind, url, signal: () => init?.signal ?? request?.signal };
  }

  async function tablebase(
    value: Values,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const fen = fenOf(value, "/standard");
    const tables = await given<Endgames>(
      parts,
      "endgames",
      options.endgames,
      "probe",
      async (url) => (await load()).openEndgames(url, by("shelfish/lichess")),
    );
    const found = await tables!.probe(fen, { signal }).catch((error) => {
      if (!/^(castling|pieces|table)$/.test(error?.code)) throw error;
      throw new Refusal(error.message, 404);
    });
    const result = (
      { outcome, dtz, isRounded }: EndgameMove["after"],
      isCheckmate: boolean,
      isStalemate: boolean,
      isInsufficientMaterial: boolean,
    ) => ({
      ...{ checkmate: isCheckmate, stalemate: isStalemate },
      ...{ variant_win: false, variant_loss: false },
      ...{ insufficient_material: isInsufficientMaterial, category: outcome },
      ...{ dtz, precise_dtz: isRounded ? null : dtz, dtm: null },
    });
    const isOver = found.moves.length === 0;
    const isLost = found.outcome === "loss";
    const moves = found.moves.map(({ uci, san, isZeroing, after, ...ends }) => {
      const { isCheckmate, isStalemate, isInsufficientMaterial } = ends;
      return {
        ...result(after, isCheckmate, isStalemate, isInsufficientMaterial),
        ...{ uci, san, zeroing: isZeroing },
      };
    });
    return json({
      ...result(
        found,
        isOver && isLost,
        isOver && !isLost,
        found.isInsufficientMaterial,
      ),
      moves,
    });
  }

  async function evaluation(
    value: Values,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const multiPv = whole(value, "multiPv", 1, 1, 256);
    const fen = fenOf(value, "/api/cloud-eval");
    const evals = await openDatabase();
    const found = await evals
      .lookup(fen, { format: "lichess", multiPv, signal })
      .catch((error) => {
        if (error?.code === "over") return null;
        throw error;
      });
    if (!found)
      throw new Refusal("No cloud evaluation available for that position", 404);
    return json(found);
  }

  async function explorer(
    kind: "masters" | "lichess",
    value: Values,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const [mostMoves, mostGames] = LIMITS[kind];
    const count = whole(value, "moves", mostMoves);
    const games = Math.min(whole(value, "topGames", mostGames), mostGames);
    whole(value, "recentGames", 0);
    const filter = filterOf(value);
    const root = value("fen")?.replaceAll("_", " ") ?? START;
    const played = (value("play") ?? "").split(",").filter((uci) => uci);
    const [from, names] = await Promise.all([
      openBook(kind),
      options.openings === false ? undefined : import("../openings.js"),
    ]);
    let path = [root];
    if (played.length > 0) {
      const after = (await import("../lichess-moves.js")).play(root, played);
      // The book has the better reason.
      if (!after) await from.moves(root, { signal });
      if (!after) throw new Refusal("fen: the position is invalid");
      if ("illegal" in after)
        throw new Refusal(`play: ${quoted(after.illegal)} is not a legal move`);
      path = [root, ...after.fens];
    }
    const { names: buckets, inexact } = bucketsOf(
      from.manifest.buckets,
      filter,
    );
    const found = await from.explore(path.at(-1)!, {
      ...{ format: "lichess", castling: "chess960", signal, buckets },
      openingOf: names?.openingOf,
    });
    if (options.fallback && found.white + found.draws + found.black === 0)
      throw new Refusal("no game reached the position", 404);
    // A position without a name has the name of the last named position before it.
    const named = path.findLast((fen) => names?.openingOf(fen));
    const hasHistory = kind === "lichess" && value("history") === "true";
    if (hasHistory) inexact.push("history");
    const answer = {
      opening: found.opening ?? (named && names?.openingOf(named)) ?? null,
      white: found.white,
      draws: found.draws,
      black: found.black,
      moves: found.moves
        .slice(0, count)
        .map((move) => ({ ...move, game: move.game && complete(move.game) })),
      topGames: found.topGames.slice(0, games).map(complete),
      ...(kind === "lichess" && { recentGames: [] }),
      ...(hasHistory && { history: [] }),
    };
    return json(answer, 200, inexact);
  }

  async function answer(
    kind: Kind,
    { searchParams }: URL,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    try {
      const value: Values = (name) => searchParams.getAll(name).at(-1);
      const variant = value("variant");
      if (variant && !VARIANTS.includes(variant))
        throw new Refusal(
          `variant: expected standard or chess960, found ${quoted(variant)}`,
        );
      if (kind === "cloud-eval") return await evaluation(value, signal);
      if (kind === "standard") return await tablebase(value, signal);
      return await explorer(kind, value, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Refusal)
        return json({ error: error.message }, error.status);
      const { code, message = String(error) } = error as Partial<ErrorFields>;
      return code === "fen"
        ? json({ error: `fen: ${message}` }, 400)
        : json({ error: `the database cannot be read: ${message}` }, 502);
    }
  }

  const own = async (...request: FetchArguments): Promise<Response> => {
    const question = read(...request);
    if (!question) return send(...request);
    const { kind, url, signal } = question;
    signal()?.throwIfAborted();
    const response = await answer(kind, url, signal() ?? undefined);
    if (options.fallback && /404|502/.test(`${response.status}`))
      return send(...request);
    // This line also keeps the request until then: Node never aborts the signal of a request that was collected.
    signal()?.throwIfAborted();
    return response;
  };
  return Object.assign(own, {
    answers: (...request: FetchArguments) => read(...request) !== undefined,
    close: () => parts.close(),
  });
}

/** Returns an answer as JSON. `inexact` has the names of parameters that the answer does not follow exactly. */
function json(value: unknown, status = 200, inexact: string[] = []): Response {
  const headers = {
    "content-type": "application/json",
    ...(inexact.length > 0 && {
      "shelfish-inexact": inexact.sort().join(", "),
    }),
  };
  return new Response(JSON.stringify(value), { status, headers });
}
