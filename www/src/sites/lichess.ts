/** Fetches games and studies from Lichess, which needs no login (https://lichess.org/api). */
import type { Game } from "../game/game";
import { pairing } from "../game/identity";
import { read } from "../game/read-pgn";
import { lichessUrl } from "../shell/page";
import { InputError } from "../text/words";
import {
  isObject,
  type Participant,
  pgnOf,
  type PlayedGame,
  type Range,
  ratingOf,
  receiveJson,
  receiveLines,
  receiveText,
  short,
  timeOf,
} from "./request";

const SITE = "Lichess";

/** Maximum sizes of the answers in bytes: of a game, a study and a list of games. */
const MAX = { game: 2_000_000, study: 8_000_000, list: 64_000_000 };

/** Variants that the board knows, and their ratings. */
const VARIANTS = ["standard", "chess960", "fromPosition"];
const RATINGS =
  "ultraBullet,bullet,blitz,rapid,classical,correspondence,chess960";

/** States of games without a result. */
const UNFINISHED = [
  "created",
  "started",
  "aborted",
  "noStart",
  "unknownFinish",
];

/** Fetches a game by its id of eight letters. Throws an `InputError`, or the signal's reason if the signal is aborted. */
export async function fetchGame(
  id: string,
  signal: AbortSignal,
): Promise<Game> {
  const base = lichessUrl();
  const url = new URL(
    `game/export/${id}?pgnInJson=true&clocks=true&evals=true&opening=true&literate=false`,
    base,
  );
  const { status, pgn } = await receiveJson({
    url,
    site: SITE,
    accept: "application/json",
    missing: "Lichess has no game of this id.",
    maximum: MAX.game,
    signal,
  });
  if (status === "created" || status === "started")
    throw new InputError(
      "This game is still being played: analysing it with an engine would be unfair. Open it after its end.",
    );
  if (typeof status !== "string")
    throw new InputError(
      "Lichess does not say whether this game is over, so it is not opened.",
    );
  if (typeof pgn !== "string")
    throw new InputError("The answer of Lichess has no PGN.");
  const [game] = (await read(pgn)).games;
  if (!game) throw new InputError("The answer of Lichess has no game.");
  game.lichess = id;
  return game;
}

/** Fetches the PGN of a study, or of a chapter of a study ("abcdefgh/ijklmnop"). Throws like `fetchGame`. */
export function fetchStudy(path: string, signal: AbortSignal): Promise<string> {
  const missing =
    "Lichess has no public study at this address. If the study is yours, download its PGN from its menu.";
  return receiveText({
    url: new URL(`api/study/${path}.pgn`, lichessUrl()),
    site: SITE,
    accept: "application/x-chess-pgn",
    missing,
    maximum: MAX.study,
    signal,
  });
}

/** Fetches the players and years of games by their ids: "Anna – Bert, 2024". Throws like `fetchGame`. */
export async function fetchNames(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for await (const { id, players, createdAt } of receiveLines({
    url: new URL("api/games/export/_ids?moves=false", lichessUrl()),
    site: SITE,
    accept: "application/x-ndjson",
    missing: "Lichess does not have these games.",
    maximum: MAX.game,
    signal,
    body: ids.join(","),
  })) {
    const time = timeOf(createdAt, 1);
    if (typeof id !== "string" || !isObject(players)) continue;
    const [white, black] = [players.white, players.black].map(participant);
    const date = time && new Date(time).toISOString();
    names.set(id, pairing(white?.name, black?.name, date || undefined));
  }
  return names;
}

/** Yields the finished games of a player, the last game first. Throws like `fetchGame`. */
export async function* fetchLichessGames(
  name: string,
  { since, until, count }: Range,
  signal: AbortSignal,
): AsyncGenerator<PlayedGame> {
  const base = lichessUrl();
  const url = new URL(
    `api/games/user/${encodeURIComponent(name)}?pgnInJson=true&clocks=true&evals=true&opening=true`,
    base,
  );
  url.searchParams.set("perfType", RATINGS);
  url.searchParams.set("max", String(count));
  // Lichess includes the bounds.
  if (since !== undefined) url.searchParams.set("since", String(since + 1));
  if (until !== undefined) url.searchParams.set("until", String(until - 1));
  const missing = `Lichess has no player ${name}.`;
  for await (const line of receiveLines({
    url,
    site: SITE,
    accept: "application/x-ndjson",
    missing,
    maximum: MAX.list,
    signal,
  })) {
    const game = playedGame(line, base);
    if (game) yield game;
  }
}

/** Reads a game of a list. Returns `undefined` for a game in progress, of another variant, or without a PGN. */
function playedGame(
  {
    id,
    variant,
    status,
    pgn,
    createdAt,
    players,
    winner,
    speed,
    rated,
    opening,
  }: Record<string, unknown>,
  base: URL,
): PlayedGame | undefined {
  const [text, time] = [pgnOf(pgn), timeOf(createdAt, 1)];
  if (
    typeof id !== "string" ||
    !/^\w{8}$/.test(id) ||
    text === undefined ||
    time === undefined ||
    !isObject(players)
  )
    return undefined;
  if (
    typeof status !== "string" ||
    UNFINISHED.includes(status) ||
    !VARIANTS.includes(String(variant))
  )
    return undefined;
  return {
    id,
    url: new URL(id, base).href,
    time,
    white: participant(players.white),
    black: participant(players.black),
    result: winner === "white" ? "1-0" : winner === "black" ? "0-1" : "1/2-1/2",
    speed: short(speed),
    isRated: rated === true,
    opening: isObject(opening)
      ? [short(opening.eco), short(opening.name)].filter(Boolean).join(" ")
      : "",
    pgn: text,
  };
}

function participant(value: unknown): Participant {
  if (!isObject(value)) return { name: "", rating: undefined };
  const { user, aiLevel, rating } = value;
  const name = isObject(user)
    ? short(user.name)
    : typeof aiLevel === "number"
      ? `Stockfish level ${aiLevel}`
      : "Anonymous";
  return { name, rating: ratingOf(rating) };
}
