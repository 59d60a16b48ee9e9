/** Games of a player, as Lichess and Chess.com list them. */

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
