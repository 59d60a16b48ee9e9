/** Prepares the page of a player: fetches and reads the games, and looks their positions up in the evaluation database. */
import type { Color } from "chessops/types";
import { type Cost, type DatabaseClient, explain } from "../database/client";
import { type Player, sideOf, SITES } from "../players/player";
import { PlayerGames, type PlayerStore } from "../players/player-games";
import { type KnownScore, scoreOfAnswer } from "../score/known-score";
import type { PlayedGame } from "../sites/request";
import { InputError, plural, size } from "../text/words";
import { keysToLookUp, type Repertoire } from "./repertoire";

/** Maximum number of positions that are looked up: the most played positions. */
const MAX_POSITIONS = 12_000;

/** The data of a player, which grow while the positions are looked up. */
export interface Prepared {
  player: Player;
  /** The games, the last game first. Games are named by their number in this list. */
  games: readonly PlayedGame[];
  repertoires: Repertoires;
  /** Scores by key of the position; `undefined` if the database does not have the position. */
  evaluations: Map<string, KnownScore | undefined>;
  /** Whether all positions were looked up. */
  isComplete: boolean;
}

/** The sources of games and evaluations. */
export interface Sources {
  store: PlayerStore | undefined;
  database: DatabaseClient;
}

export interface Listener {
  /** Reports the work. `share` is the finished part, from 0 to 1, if it is known. */
  progress(words: string, share?: number): void;
  /** Reports a failure that does not end the preparation. */
  fail(message: string): void;
  /** The data have grown. */
  changed(prepared: Prepared): void;
}

/** Prepares the page with the last games of a player. Returns a sentence about the finished work. Throws an `InputError` if there is no game, or the signal's reason if the signal is aborted. */
export async function prepare(
  player: Player,
  count: number,
  { store, database }: Sources,
  listener: Listener,
  signal: AbortSignal,
): Promise<string> {
  const games = await gamesOf(player, count, store, listener, signal);
  const sided = games.flatMap((game) => {
    const side = sideOf(player, game);
    return side ? [{ game, side }] : [];
  });
  if (sided.length === 0)
    throw new InputError(
      `${SITES[player.site]} has no finished game of ${player.name} that can be read.`,
    );
  const all = plural(sided.length, "game");
  listener.progress(`Reading ${all}…`, 0);
  const toRead = sided.map(({ game: { pgn, result }, side }) => ({
    pgn,
    result,
    side,
  }));
  const repertoires = await readGames(
    toRead,
    (done) =>
      listener.progress(
        `Reading ${done.toLocaleString("en")} of ${all}…`,
        done / sided.length,
      ),
    signal,
  );
  const prepared: Prepared = {
    player,
    games: sided.map(({ game }) => game),
    repertoires,
    evaluations: new Map(),
    isComplete: false,
  };
  listener.changed(prepared);

  const spent = { requests: 0, bytes: 0 };
  const { done, all: wanted } = await evaluate(
    prepared,
    database,
    spent,
    listener,
    signal,
  );
  prepared.isComplete = true;
  listener.changed(prepared);
  const { leftOut } = repertoires;
  const remark =
    leftOut > 0
      ? ` ${plural(leftOut, "game")} with other start positions or unreadable moves ${leftOut === 1 ? "is" : "are"} left out.`
      : "";
  const limit =
    done < wanted
      ? ` The limit of ${size(MAX_BYTES)} ended the lookups: of ${plural(wanted, "position")}, the ${done.toLocaleString("en")} most played were looked up.`
      : "";
  return `${all}, ${plural(done, "position")} looked up, ${plural(spent.requests, "request")}, ${size(spent.bytes)}.${limit}${remark}`;
}

/** Returns the last games of a player. If the site fails, returns the stored games and reports the failure. */
async function gamesOf(
  player: Player,
  count: number,
  store: PlayerStore | undefined,
  listener: Listener,
  signal: AbortSignal,
): Promise<readonly PlayedGame[]> {
  const site = SITES[player.site];
  const games = await PlayerGames.open(player, store);
  signal.throwIfAborted();
  listener.progress(`Asking ${site}…`);
  try {
    await games.fetch(
      count,
      (done) =>
        listener.progress(
          `${plural(done, "game")} from ${site}…`,
          Math.min(1, done / count),
        ),
      signal,
    );
  } catch (error) {
    if (!(error instanceof InputError) || games.known.games.length === 0)
      throw error;
    listener.fail(`${error.message} The page shows the stored games.`);
  }
  return games.known.games.slice(0, count);
}

/** Looks up the positions before and after repeated moves. Returns the number of positions that were looked up, and of all positions. */
async function evaluate(
  prepared: Prepared,
  database: DatabaseClient,
  spent: Pick<Cost, "requests" | "bytes">,
  listener: Listener,
  signal: AbortSignal,
): Promise<{ done: number; all: number }> {
  const { repertoires, evaluations } = prepared;
  const keys = keysToLookUp(
    [repertoires.white, repertoires.black],
    MAX_POSITIONS,
  );
  const show = (done: number) =>
    listener.progress(
      `Looking up ${done.toLocaleString("en")} of ${plural(keys.length, "position")}…`,
      done / Math.max(1, keys.length),
    );
  let done = 0;
  show(done);
  try {
    for await (const { scores, count, cost } of lookUp(
      database,
      keys,
      signal,
      MAX_BYTES,
    )) {
      for (const [key, score] of scores) evaluations.set(key, score);
      done += count;
      spent.requests += cost.requests;
      spent.bytes += cost.bytes;
      listener.changed(prepared);
      show(done);
    }
  } catch (error) {
    signal.throwIfAborted();
    const { title, advice } = explain(error);
    listener.fail(`${title} ${advice}`);
  }
  return { done, all: keys.length };
}

/** Number of positions of a call. A larger batch shares more requests; a smaller batch shows its progress sooner. */
const BATCH = 256;

/** Maximum number of bytes that the lookups of a player's positions receive. */
export const MAX_BYTES = 5_000_000;

/**
 * Yields the scores of positions in batches, with the cost of each batch. Positions whose lookup failed are left out. Ends before `keys` ends
 * if the next batch could exceed `maximum` bytes: the costliest batch so far is the estimate. Throws the error of
 * the database, or the signal's reason if the signal is aborted.
 */
export async function* lookUp(
  client: Pick<DatabaseClient, "lookupMany">,
  keys: readonly string[],
  signal: AbortSignal,
  maximum = Infinity,
) {
  let [received, costliest] = [0, 0];
  for (let at = 0; at < keys.length; at += BATCH) {
    if (received + costliest > maximum) return;
    const batch = keys.slice(at, at + BATCH);
    const { answers, cost } = await client.lookupMany(batch, signal);
    signal.throwIfAborted();
    received += cost.bytes;
    costliest = Math.max(costliest, cost.bytes);
    yield {
      scores: answers.map(
        ([key, answer]) => [key, scoreOfAnswer(answer)] as const,
      ),
      count: batch.length,
      cost,
    };
  }
}

/** A game for the Worker. */
export type GameToRead = Pick<PlayedGame, "pgn" | "result"> & { side: Color };

/** The repertoires of a player. */
interface Repertoires {
  white: Repertoire;
  black: Repertoire;
  /** Number of games from other start positions, and of games that cannot be read. */
  leftOut: number;
}

/** A message of the Worker: the number of games that were read, or the result. */
export type ReaderMessage = { done: number } | { repertoires: Repertoires };

/** Reads games. `progress` receives the number of games that were read. Throws the signal's reason if the signal is aborted. */
export async function readGames(
  games: readonly GameToRead[],
  progress: (done: number) => void,
  signal: AbortSignal,
): Promise<Repertoires> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./reader.ts", import.meta.url), {
    type: "module",
  });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), {
        once: true,
      });
      worker.addEventListener("error", ({ message }) =>
        reject(new Error(message || "the Worker cannot be loaded")),
      );
      worker.addEventListener(
        "message",
        ({ data }: MessageEvent<ReaderMessage>) => {
          if ("done" in data) progress(data.done);
          else resolve(data.repertoires);
        },
      );
      worker.postMessage(games);
    });
  } finally {
    worker.terminate();
  }
}
