/** Requests to the public APIs of Lichess and Chess.com, and the games that they list. The size of an answer and the time without progress are limited. */
import { InputError, size } from "../text/words";

/** Milliseconds without a byte after which a request fails. */
const TIMEOUT = 15_000;

/** Milliseconds without requests to a site that answered with status 429. Lichess asks for a full minute. */
const PAUSE = 60_000;

/** Maximum number of characters of a line. */
const MAX_LINE = 1_000_000;

export interface Request {
  url: URL;
  /** Name of the site, for messages. */
  site: string;
  /** Media type of the answer. */
  accept: string;
  /** Message for status 404. */
  missing: string;
  /** Maximum size of the answer in bytes. */
  maximum: number;
  signal: AbortSignal;
  /** Text that is sent. */
  body?: string;
}

/** The site has no such game or player. */
export class MissingError extends InputError {}

/** When requests to a host are allowed again, in milliseconds since 1970. */
const pauses = new Map<string, number>();

/** Yields the parts of an answer. Throws an `InputError`, or the signal's reason if the signal is aborted. */
async function* receive({
  url,
  site,
  accept,
  missing,
  maximum,
  signal,
  body,
}: Request): AsyncGenerator<string> {
  signal.throwIfAborted();
  if (!navigator.onLine)
    throw new InputError(
      `You are offline. Games of ${site} need a connection; a PGN opens without a connection.`,
    );
  if (Date.now() < (pauses.get(url.host) ?? 0))
    throw new InputError(tooMany(site));
  const ours = new AbortController();
  const stop = () => ours.abort();
  signal.addEventListener("abort", stop, { once: true });
  let timer = setTimeout(stop, TIMEOUT);
  let isAnswered = false;
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers: { accept },
      signal: ours.signal,
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    if (response.status === 404) throw new MissingError(missing);
    if (response.status === 429) pauses.set(url.host, Date.now() + PAUSE);
    if (!response.ok)
      throw new InputError(
        response.status === 429
          ? tooMany(site)
          : `${site} answered with status ${response.status}. Try again later.`,
      );
    isAnswered = true;
    let received = 0;
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    while (reader) {
      const { done, value } = await reader.read();
      clearTimeout(timer);
      timer = setTimeout(stop, TIMEOUT);
      if (done) break;
      received += value.length;
      if (received > maximum)
        throw new InputError(
          `The answer of ${site} is too long: at most ${size(maximum)} are read.`,
        );
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InputError) throw error;
    if (ours.signal.aborted)
      throw new InputError(`${site} takes too long to answer. Try again.`);
    if (isAnswered)
      throw new InputError(`The connection to ${site} broke. Try again.`);
    throw new InputError(
      `${site} cannot be reached. Try again, or copy the PGN of the game and paste it here.`,
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    // The rest of the answer is not needed.
    ours.abort();
  }
}

/** Returns the text of an answer. Throws like `receive`. */
export async function receiveText(request: Request): Promise<string> {
  let text = "";
  for await (const part of receive(request)) text += part;
  return text;
}

/** Returns the object of an answer in JSON. Throws like `receive`. */
export async function receiveJson(
  request: Request,
): Promise<Record<string, unknown>> {
  return parse(await receiveText(request), request.site);
}

/** Yields the objects of an answer with an object in JSON on each line. Throws like `receive`. */
export async function* receiveLines(
  request: Request,
): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  for await (const part of receive(request)) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw new InputError(unreadable(request.site));
    for (const line of lines) if (line.trim()) yield parse(line, request.site);
  }
  if (rest.trim()) yield parse(rest, request.site);
}

function parse(text: string, site: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // The message below is better than the parser's.
  }
  throw new InputError(unreadable(site));
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const unreadable = (site: string) => `The answer of ${site} cannot be read.`;

const tooMany = (site: string) =>
  `${site} has received too many requests from this computer. Wait a minute, then try again.`;

export interface Participant {
  name: string;
  /** `undefined` if the site gives no rating. */
  rating: number | undefined;
}

/** A finished game. */
export interface PlayedGame {
  /** Identifier on the site. */
  id: string;
  /** Page of the game. */
  url: string;
  /** Start of a game of Lichess, end of a game of Chess.com, in milliseconds since 1970. */
  time: number;
  white: Participant;
  black: Participant;
  result: "1-0" | "0-1" | "1/2-1/2";
  /** "blitz", "daily" and so on. */
  speed: string;
  isRated: boolean;
  /** Name of the opening; empty if unknown. */
  opening: string;
  pgn: string;
}

/** The games that a request asks for. */
export interface Range {
  /** Only games after this time, in milliseconds since 1970. */
  since?: number;
  /** Only games before this time. */
  until?: number;
  /** Maximum number of games. */
  count: number;
}

/** Maximum number of characters of a name and of a PGN. */
const [MAX_NAME, MAX_PGN] = [80, 200_000];

/** Returns a short text of an answer; empty if the value is another type. */
export const short = (value: unknown): string =>
  typeof value === "string" ? value.slice(0, MAX_NAME) : "";

/** Returns the PGN of an answer, or `undefined` if the value is no PGN that can be opened. */
export const pgnOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.length > 0 && value.length <= MAX_PGN
    ? value
    : undefined;

/** Returns a rating, or `undefined` if the value is no rating. */
export const ratingOf = (value: unknown): number | undefined =>
  typeof value === "number" &&
  Number.isInteger(value) &&
  value > 0 &&
  value < 10_000
    ? value
    : undefined;

/** Returns a time, or `undefined` if the value is no time after 1970. */
export const timeOf = (value: unknown, unit: number): number | undefined =>
  typeof value === "number" &&
  Number.isSafeInteger(value) &&
  value > 0 &&
  value * unit <= 8.64e15
    ? value * unit
    : undefined;
