// Answers requests to the APIs of Lichess from static databases, as `shelfish serve --api` does.

import type { Book } from "../book/book.js";
import type { LichessGame } from "../book/types.js";
import type { Database } from "../database/database.js";
import { checked, type Kinds, usage } from "../shared/options.js";
import { Parts } from "../shared/parts.js";
import { bucketsOf, filterOf } from "./filter.js";
import { Refusal } from "./refusal.js";
import type {
  FetchArguments,
  LichessFetch,
  LichessOptions,
  Loaders,
} from "./types.js";

export type { LichessFetch, LichessOptions } from "./types.js";

const OPTIONS: Kinds<LichessOptions> = {
  database: "other",
  book: "other",
  masters: "other",
  player: "text",
  openings: "flag",
  fetch: "function",
};

/** A kind of answer, by the last part of the path. */
type Kind = "cloud-eval" | "masters" | "lichess" | "player";

const ADDRESS =
  /^https?:\/\/(?:lichess\.org\/api\/(cloud-eval)|explorer\.lichess\.(?:org|ovh)\/(masters|lichess|player))\/?(?:[?#]|$)/;

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Variants with the rules of chess. */
const VARIANTS = ["standard", "chess960", "fromPosition"];

/** Maximum numbers of moves and games in an answer, if the question does not limit them. */
const LIMITS = {
  masters: [12, 15],
  lichess: [12, 4],
  player: [Infinity, 0],
} as const;

/** Maximum number of players whose books are open. */
const PLAYERS = 8;

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

/** Adds the members of Lichess' games that a book lacks, so that clients can read them. The rating is the mean of both players. */
function complete<G extends LichessGame>(game: G) {
  const player = { name: "?", rating: game.rating ?? null };
  return { ...game, white: player, black: player, year: null, month: null };
}

/** Creates the adapter for parts that a loader opens. */
export function adapter(load: Loaders, given: LichessOptions): LichessFetch {
  const options = checked("lichessFetch", given, OPTIONS);
  const { database, book, masters, player } = options;
  if (player !== undefined && !player.includes("{player}"))
    throw usage(
      `player: expected a URL with {player} and {color}, found ${quoted(player)}`,
    );
  const send = options.fetch ?? globalThis.fetch;
  const parts = new Parts();
  /** Numbers of questions to the open books of players. */
  const players = new Map<string, number>();

  const opened = <T extends Database | Book>(
    name: string,
    part: string | URL | T,
    open: (url: string | URL) => Promise<T>,
  ): Promise<T> | T =>
    typeof part === "string" || part instanceof URL
      ? parts.get(name, () => open(part))
      : part;
  const sources = {
    "cloud-eval": database,
    masters: masters ?? book,
    lichess: book,
    player,
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

  async function evaluation(
    value: Values,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const multiPv = whole(value, "multiPv", 1, 1, 256);
    const fen = value("fen")?.replaceAll("_", " ");
    if (fen === undefined)
      throw new Refusal("fen: expected /api/cloud-eval?fen=FEN, found no fen");
    const evals = await opened("database", database!, load.database);
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

  /** Opens the book of a player, calls `use`, and closes books that were not used for long. */
  async function ofPlayer<T>(
    value: Values,
    use: (book: Book) => Promise<T>,
  ): Promise<T> {
    const name = value("player")?.toLowerCase() ?? "";
    const color = value("color") ?? "white";
    if (!/^[\w-]{2,30}$/.test(name))
      throw new Refusal(
        `player: expected the name of a player, found ${quoted(name)}`,
      );
    if (color !== "white" && color !== "black")
      throw new Refusal(
        `color: expected white or black, found ${quoted(color)}`,
      );
    const url = player!
      .replaceAll("{player}", name)
      .replaceAll("{color}", color);
    const uses = players.get(url) ?? 0;
    players.delete(url);
    players.set(url, uses + 1);
    for (const [other, uses] of players) {
      if (players.size <= PLAYERS) break;
      if (uses > 0) continue;
      players.delete(other);
      parts.close(other);
    }
    try {
      return await use(await parts.get(url, () => load.book(url)));
    } catch (error) {
      const {
        code,
        status,
        url: at,
      } = error as { code?: string; status?: number; url?: string };
      const isMissing =
        at?.endsWith("manifest.json") &&
        (code === "missing" || status === 404 || status === 410);
      throw isMissing ? new Refusal("this player has no book", 404) : error;
    } finally {
      players.set(url, players.get(url)! - 1);
    }
  }

  async function explorer(
    kind: Exclude<Kind, "cloud-eval">,
    value: Values,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const [mostMoves, mostGames] = LIMITS[kind];
    const count = whole(value, "moves", mostMoves);
    const games = Math.min(whole(value, "topGames", mostGames), mostGames);
    whole(value, "recentGames", 0);
    const filter = filterOf(value);
    const root = value("fen")?.replaceAll("_", " ") ?? START;
    const played =
      value("play")
        ?.split(",")
        .filter((uci) => uci !== "") ?? [];
    const names = options.openings === false ? undefined : load.openings();
    // If the book fails first, nothing waits for the names.
    names?.catch(() => {});

    const use = async (from: Book) => {
      let path: string[] = [root];
      if (played.length > 0) {
        const after = (await load.moves()).play(root, played);
        // The book has the better reason.
        if (!after) await from.moves(root, { signal });
        if (!after) throw new Refusal("fen: the position is invalid");
        if ("illegal" in after)
          throw new Refusal(
            `play: ${quoted(after.illegal)} is not a legal move`,
          );
        path = [root, ...after.fens];
      }
      const { openingOf } = (await names) ?? {};
      const { names: buckets, inexact } = bucketsOf(
        from.manifest.buckets,
        filter,
      );
      const found = await from.explore(path.at(-1)!, {
        format: "lichess",
        castling: "chess960",
        signal,
        openingOf,
        buckets,
      });
      let { opening } = found;
      // A position without a name has the name of the last named position before it.
      for (let n = path.length - 2; n >= 0 && !opening; n--)
        opening = openingOf?.(path[n]!) ?? null;
      const moves = found.moves
        .slice(0, count)
        .map((move) => ({ ...move, game: move.game && complete(move.game) }));
      const isPlayer = kind === "player";
      const hasHistory = kind === "lichess" && value("history") === "true";
      const answer = {
        opening,
        ...(isPlayer && { queuePosition: 0 }),
        white: found.white,
        draws: found.draws,
        black: found.black,
        moves,
        ...(!isPlayer && {
          topGames: found.topGames.slice(0, games).map(complete),
        }),
        ...(kind !== "masters" && { recentGames: [] }),
        ...(hasHistory && { history: [] }),
      };
      if (hasHistory) inexact.push("history");
      if (
        isPlayer &&
        !["", "casual,rated", "rated,casual"].includes(value("modes") ?? "")
      )
        inexact.push("modes");
      return json(
        answer,
        200,
        isPlayer ? "application/x-ndjson" : undefined,
        inexact,
      );
    };
    if (kind === "player") return ofPlayer(value, use);
    const source = sources[kind]!;
    return use(
      await opened(
        String(kind === "masters" && masters ? "masters" : "book"),
        source as string | URL | Book,
        load.book,
      ),
    );
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
      return await (kind === "cloud-eval"
        ? evaluation(value, signal)
        : explorer(kind, value, signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Refusal)
        return json({ error: error.message }, error.status);
      const { code, message = String(error) } = error as {
        code?: string;
        message?: string;
      };
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
function json(
  value: unknown,
  status = 200,
  type = "application/json",
  inexact: string[] = [],
): Response {
  const headers = {
    "content-type": type,
    ...(inexact.length > 0 && {
      "shelfish-inexact": inexact.sort().join(", "),
    }),
  };
  return new Response(
    JSON.stringify(value) + (type.includes("nd") ? "\n" : ""),
    { status, headers },
  );
}
