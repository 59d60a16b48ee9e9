// The only error class of the package.

/**
 * The kind of an error:
 *
 * | code | meaning |
 * |---|---|
 * | `fen` | The text is not the FEN of a legal position. The message names the field. |
 * | `pgn` | The text is not a game in PGN. The message names the line. |
 * | `over` | The game is over in this position, so there is nothing to evaluate: see `outcome`. |
 * | `manifest` | The URL has no manifest of a Shelfish database, or a manifest of the other kind: evaluations or a book. |
 * | `integrity` | The hash of the manifest is not in `integrity`, or bytes are not those of the pinned database. |
 * | `version` | The format of the database is newer than this package. |
 * | `network` | No answer: no connection, no such host, refused by CORS or a Content-Security-Policy, or an incomplete answer. |
 * | `timeout` | No complete answer in time. |
 * | `status` | The host answered with an error such as 404, 403 or 500: see `status`. |
 * | `missing` | In Node: the folder or a file of the database does not exist. |
 * | `range` | The host sent other bytes than requested: a wrong range, a short or long body, a compressed range, or a large file as a whole. |
 * | `corrupt` | The bytes are damaged. |
 * | `stale` | The database was replaced while it was open, and the new database cannot be read. |
 * | `castling` | Endgame tables contain no positions with castling rights. |
 * | `pieces` | The position has more pieces than the endgame tables. |
 * | `table` | An endgame table is missing that the position needs. The message names it. |
 * | `engine` | An engine failed, or its answer is not UCI. |
 * | `aborted` | The signal was aborted. The name of the error is `AbortError`, and its `cause` is the signal's reason. |
 * | `closed` | The database, book, engine or evaluator was closed. |
 * | `usage` | An argument or option is wrong. The message names it. |
 */
export type ErrorCode =
  | "fen"
  | "pgn"
  | "over"
  | "manifest"
  | "integrity"
  | "version"
  | "network"
  | "timeout"
  | "status"
  | "missing"
  | "range"
  | "corrupt"
  | "stale"
  | "castling"
  | "pieces"
  | "table"
  | "engine"
  | "aborted"
  | "closed"
  | "usage";

/** The fields of a {@link ShelfishError}. */
export interface ErrorFields {
  /** The kind of the error. */
  readonly code: ErrorCode;
  /** The reason as text, with a remedy. */
  readonly message: string;
  /** The URL of the file. */
  readonly url?: string;
  /** The status of the answer, with code `status`. */
  readonly status?: number;
  /** The end of the game, with code `over`. */
  readonly outcome?: "checkmate" | "stalemate";
  /** Seconds to wait, if the host requests it. */
  readonly retryAfter?: number;
}

/** Marks the errors of all entries. Each entry has its own class. */
const BRAND = Symbol.for("shelfish.ShelfishError");

/** Sets a property that is not enumerable. */
const hide = <T extends object>(
  object: T,
  name: PropertyKey,
  value: unknown,
): T =>
  Object.defineProperty(object, name, {
    value,
    configurable: true,
    writable: true,
  });

/** Returns the fields except the message, without omitted fields. */
const fieldsOf = ({
  code,
  url,
  status,
  outcome,
  retryAfter,
}: ErrorFields): Omit<ErrorFields, "message"> =>
  JSON.parse(JSON.stringify({ code, url, status, outcome, retryAfter }));

/**
 * The only error that this package throws. Its stack begins at the caller of the package. `instanceof` accepts the errors of
 * every entry: errors of `shelfish/worker` are also errors of `shelfish`.
 *
 * `structuredClone` and `postMessage` copy only the message and the stack, as of every `Error`. `error.toJSON()` returns all
 * fields, and `new ShelfishError(fields)` restores the error.
 */
export class ShelfishError extends Error implements ErrorFields {
  declare readonly code: ErrorCode;
  declare readonly url?: string;
  declare readonly status?: number;
  declare readonly outcome?: "checkmate" | "stalemate";
  declare readonly retryAfter?: number;

  static [Symbol.hasInstance](value: unknown): boolean {
    return this === ShelfishError
      ? BRAND in Object(value)
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  constructor(fields: ErrorFields, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause });
    Object.assign(this, fieldsOf(fields));
    if (fields.code === "aborted") hide(this, "name", "AbortError");
    // In V8 the stack contains the name.
    Error.captureStackTrace?.(this, new.target);
  }

  /** Returns the fields as a plain object, which JSON and `postMessage` keep. */
  toJSON(): ErrorFields {
    return { ...fieldsOf(this), message: this.message };
  }
}

hide(ShelfishError.prototype, BRAND, true);
hide(ShelfishError.prototype, "name", "ShelfishError");

/** Returns an error without a URL. */
export const failed = (
  code: ErrorCode,
  message: string,
  cause?: unknown,
): ShelfishError => new ShelfishError({ code, message }, cause);

/** Returns the name of a value's class. In another realm (a frame, jsdom, `vm` of Node) classes differ, but not their names. */
export const tagOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1);

/** Whether a value is an error, of any realm. */
export const isError = (value: unknown): value is Error =>
  /^(Error|DOMException)$/.test(tagOf(value));

/** Returns an error of a WASM module, which is a plain object, as an error of the package. Keeps other values. */
export function asError(error: unknown): unknown {
  const isPlain =
    typeof (error as ErrorFields | null | undefined)?.code === "string" &&
    !isError(error);
  return isPlain
    ? new ShelfishError(
        error as ErrorFields,
        (error as { cause?: unknown }).cause,
      )
    : error;
}

/**
 * Runs the work of a public function. An error has the stack of this call: the work ends in WebAssembly, a timer or an event, which no
 * caller waits for. V8 knows who waits for this function.
 */
export async function enter<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof ShelfishError) Error.captureStackTrace?.(error, enter);
    throw error;
  }
}

/** Runs the work of a public function that is not asynchronous. */
export function enterSync<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asError(error);
  }
}
