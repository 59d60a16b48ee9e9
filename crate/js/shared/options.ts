// Checks of arguments and options that several entries have.

import { ShelfishError, tagOf } from "./errors.js";
import type { Limits, SequenceOptions } from "./types.js";

/** Kinds of the options that all searches have. */
export const SEARCH = {
  depth: "other",
  nodes: "other",
  movetime: "other",
  multiPv: "other",
  signal: "signal",
  castling: "castling",
} as const;

/** Kinds of the options of a sequence of searches. */
export const SEQUENCE: Kinds<SequenceOptions<any>> = {
  depth: "other",
  nodes: "other",
  multiPv: "other",
  signal: "signal",
  castling: "castling",
  onAnswer: "function",
};

/** Returns the error of a wrong argument. */
export const usage = (message: string): ShelfishError =>
  new ShelfishError({ code: "usage", message });

/** Whether a value is a URL, and nothing open. */
export const isUrl = (value: unknown): value is string | URL =>
  typeof value === "string" || tagOf(value) === "URL";

const isObject = (value: unknown) =>
  typeof value === "object" && value !== null;

/** Kinds of options: the expected value, and whether a value is of the kind. */
const KINDS = {
  /** Checked by the function that uses the option. */
  other: ["", () => true],
  text: ["a text", (value: unknown) => typeof value === "string"],
  texts: [
    "a list of texts",
    (value: unknown) =>
      Array.isArray(value) && value.every((text) => typeof text === "string"),
  ],
  flag: ["true or false", (value: unknown) => typeof value === "boolean"],
  least0: [
    "a number of at least 0",
    (value: unknown) => typeof value === "number" && value >= 0,
  ],
  least1: [
    "a number of at least 1",
    (value: unknown) => typeof value === "number" && value >= 1,
  ],
  castling: [
    '"standard" or "chess960"',
    (value: unknown) => value === "standard" || value === "chess960",
  ],
  function: ["a function", (value: unknown) => typeof value === "function"],
  signal: [
    "an AbortSignal",
    (value: unknown) => isObject(value) && "aborted" in (value as object),
  ],
  object: ["an object", isObject],
  cache: [
    "true, false or an object",
    (value: unknown) => typeof value === "boolean" || isObject(value),
  ],
} as const;

/** The kind of each option of a function. */
export type Kinds<O> = { [Name in keyof Required<O>]: keyof typeof KINDS };

/**
 * Returns options, or an empty object if they are omitted. Throws if a name is unknown or a value is of another kind. `null` and
 * `undefined` are omitted options. `prefix` is the beginning of their names in errors.
 */
export function checked<O extends object>(
  call: string,
  options: O | null | undefined,
  kinds: Kinds<O>,
  prefix = "",
): O {
  if (options === undefined || options === null) return {} as O;
  if (!isObject(options))
    throw usage(
      `${call}: expected options as an object, found ${shown(options)}`,
    );
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name)
      ? kinds[name as keyof O]
      : undefined;
    if (!kind)
      throw usage(
        `${prefix}${name}: ${call} has no such option, expected ${Object.keys(kinds).join(", ")}`,
      );
    const [expected, isValid] = KINDS[kind];
    if (value !== undefined && value !== null && !isValid(value))
      throw usage(
        `${prefix}${name}: expected ${expected}, found ${shown(value)}`,
      );
  }
  return options;
}

/** Describes a value in an error. */
export const shown = (value: unknown) =>
  typeof value === "string"
    ? JSON.stringify(value.slice(0, 40))
    : isObject(value)
      ? "an object"
      : String(value).slice(0, 40);

/** Returns a limit, or `undefined` if it is omitted. Throws if it is too small, too large or no whole number. */
export function limit(
  name: string,
  value: unknown,
  maximum: number,
  minimum = 1,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (
    Number.isInteger(value) &&
    (value as number) >= minimum &&
    (value as number) <= maximum
  )
    return value as number;
  throw usage(
    `${name}: expected a whole number from ${minimum} to ${maximum}, found ${shown(value)}`,
  );
}

/** Returns the checked limits of a search, and its number of variations. If all limits are omitted, the depth is `defaultDepth`. */
export function limits(
  {
    depth,
    nodes,
    movetime,
    multiPv,
  }: Limits & { multiPv?: number | undefined },
  defaultDepth?: number,
): Limits & { multiPv: number } {
  const checked = {
    depth: limit("depth", depth, 127),
    nodes: limit("nodes", nodes, 2 ** 53 - 1),
    movetime: limit("movetime", movetime, 2 ** 31 - 1),
    multiPv: limit("multiPv", multiPv, 256) ?? 1,
  };
  return (checked.depth ?? checked.nodes ?? checked.movetime)
    ? checked
    : { ...checked, depth: defaultDepth };
}

/** Returns a URL or path as text. Throws if there is none, as in a variable that is not set. */
export function urlText(call: string, url: unknown): string {
  const text = isUrl(url) ? String(url).trim() : "";
  if (text && !/^(undefined|null)(\/|$)/.test(text)) return text;
  throw usage(
    `${call}: expected a URL, found ${shown(url)}; is a variable not set?`,
  );
}

/** Splits the hash of a manifest from the end of a URL or path. */
export const splitPin = (url: string): string[] =>
  url.split(/#(sha256-[\w+/]{43}=)$/, 2);

/** Returns the error of a fragment that pins nothing. */
export const noPin = (call: string, url: string): ShelfishError =>
  usage(
    `${call}: expected #sha256-…, as \`shelfish stats\` prints it, or no fragment, found ${shown(url.slice(url.lastIndexOf("#")))}`,
  );

/** Returns a FEN. Throws if the argument is no text. */
export function fenText(call: string, fen: unknown): string {
  if (typeof fen === "string") return fen;
  throw usage(`${call}: expected a FEN as text, found ${shown(fen)}`);
}

/** Returns the elements of a list of FENs. Throws if the argument is no list of texts. */
export function fenList(call: string, fens: Iterable<string>): string[] {
  if (typeof fens === "string" || typeof fens?.[Symbol.iterator] !== "function")
    throw usage(`${call}: expected a list of FENs, found ${shown(fens)}`);
  return Array.from(fens, (fen) => fenText(call, fen));
}

/** Joins a list of moves in UCI with spaces. Throws if the argument is no such list. */
export function joinMoves(name: string, moves: unknown): string {
  if (!Array.isArray(moves))
    throw usage(
      `${name}: expected a list of moves in UCI, found ${shown(moves)}`,
    );
  const n = moves.findIndex(
    (move) => typeof move !== "string" || !/^\S+$/.test(move),
  );
  if (n >= 0)
    throw usage(
      `${name}[${n}]: expected a move in UCI, found ${shown(moves[n])}`,
    );
  return moves.join(" ");
}
