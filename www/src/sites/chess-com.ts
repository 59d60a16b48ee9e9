/** Fetches games from the published data of Chess.com, which needs no login (https://www.chess.com/news/view/published-data-api). */
import { chessComUrl } from "../shell/page";
import { InputError } from "../text/words";
import {
  isObject,
  type Participant,
  pgnOf,
  type PlayedGame,
  type Range,
  ratingOf,
  receiveJson,
  short,
  timeOf,
} from "./request";

const SITE = "Chess.com";

/** Maximum sizes of the answers in bytes: of the list of months, and of a month. */
const MAX = { months: 1_000_000, month: 32_000_000 };

/** Variants that the board knows. */
const VARIANTS = ["chess", "chess960"];

/**
 * Yields the games of a player, the last game first. All games that end in the same second are in the same list, which may exceed `count`. The
 * requests are not parallel, because Chess.com limits parallel requests only. Throws an `InputError`, or the signal's reason if the signal is aborted.
 */
export async function* fetchChessComGames(
  name: string,
  { since = 0, until = Infinity, count }: Range,
  signal: AbortSignal,
): AsyncGenerator<PlayedGame> {
  const player = `pub/player/${encodeURIComponent(name.toLowerCase())}/games/`;
  const ask = (path: string, maximum: number) =>
    receiveJson({
      url: new URL(player + path, chessComUrl()),
      site: SITE,
      accept: "application/json",
      missing: `Chess.com has no player ${name}.`,
      maximum,
      signal,
    });
  const { archives } = await ask("archives", MAX.months);
  if (!Array.isArray(archives))
    throw new InputError("The answer of Chess.com has no list of months.");
  // Only the month is read: the addresses could name another host.
  const months = archives
    .flatMap((each) => /\/(\d{4}\/\d{2})$/.exec(short(each))?.[1] ?? [])
    .sort()
    .reverse();
  let [left, last] = [count, NaN];
  for (const month of months) {
    const [year = 0, number = 0] = month.split("/").map(Number);
    if (Date.UTC(year, number) <= since || Date.UTC(year, number - 1) >= until)
      continue;
    const { games } = await ask(month, MAX.month);
    if (!Array.isArray(games))
      throw new InputError(
        `The answer of Chess.com for the month ${month} has no games.`,
      );
    const found = games
      .flatMap((each) => playedGame(each) ?? [])
      .filter(({ time }) => time > since && time < until);
    for (const game of found.sort((a, b) => b.time - a.time)) {
      // The next request excludes the time of the last game, and several games may end in the same second.
      if (left-- <= 0 && game.time !== last) return;
      last = game.time;
      yield game;
    }
  }
}

/** Reads a game of a month. Returns `undefined` for a game of another variant, or without a PGN. */
function playedGame(value: unknown): PlayedGame | undefined {
  if (!isObject(value)) return undefined;
  const { url, pgn, end_time, rules, white, black, time_class, rated, eco } =
    value;
  const [text, time] = [pgnOf(pgn), timeOf(end_time, 1000)];
  const path =
    /^https:\/\/www\.chess\.com\/(?:game\/)?(?:live|daily)\/(?:game\/)?\d+$/.exec(
      short(url),
    )?.[0];
  if (
    !path ||
    text === undefined ||
    time === undefined ||
    !VARIANTS.includes(String(rules)) ||
    !isObject(white) ||
    !isObject(black)
  )
    return undefined;
  return {
    id: path,
    url: path,
    time,
    white: participant(white),
    black: participant(black),
    result:
      white.result === "win"
        ? "1-0"
        : black.result === "win"
          ? "0-1"
          : "1/2-1/2",
    speed: short(time_class),
    isRated: rated === true,
    opening: openingOf(
      short(eco) || (/\[ECOUrl "([^"]*)"\]/.exec(text)?.[1] ?? ""),
    ),
    pgn: text,
  };
}

const participant = ({
  username,
  rating,
}: Record<string, unknown>): Participant => ({
  name: short(username),
  rating: ratingOf(rating),
});

/** Returns "Kings Pawn Opening" for ".../openings/Kings-Pawn-Opening-1...e5". */
const openingOf = (url: string): string =>
  (/\/openings\/([\w'-]+)/.exec(url)?.[1] ?? "")
    .replace(/-\d.*$/, "")
    .replaceAll("-", " ")
    .trim();
