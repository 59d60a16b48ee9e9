// The one error that the package throws.

/**
 * What went wrong:
 *
 * | code | what it means |
 * |---|---|
 * | `fen` | The text is not the FEN of a position that can be played on; the message says which field is wrong. |
 * | `pgn` | The text is not a game in PGN; the message says in which line, and what was found there. |
 * | `manifest` | What is at the URL is not a manifest of a Shelfish database, or one of another kind: evaluations or a book. |
 * | `integrity` | The manifest is another one than that of `integrity`. |
 * | `version` | The database is of a later format than this package reads. |
 * | `network` | No answer: no connection, no such host, refused by CORS or a Content-Security-Policy, or the answer broke off. |
 * | `timeout` | No complete answer in time. |
 * | `status` | The host answered with an error, such as 404, 403 or 500: see `status`. |
 * | `range` | The host sent other bytes than it was asked for: a wrong range, a short or long body, a compressed range, or the whole of a large file. |
 * | `corrupt` | Bytes came that are not those that the database's author wrote. |
 * | `stale` | The database was replaced while it was open, and the new one cannot be read either. |
 * | `over` | The game is over in this position, so there is nothing to evaluate: see `outcome`. |
 * | `engine` | An engine failed, or does not answer as engines do. |
 * | `aborted` | The signal was aborted; the name of the error is `AbortError`, its `cause` the signal's reason. |
 * | `closed` | The database, book, engine or evaluator was closed. |
 * | `usage` | An argument or option is not what it should be; the message names it. |
 */
export type ErrorCode =
  | "fen"
  | "pgn"
  | "manifest"
  | "integrity"
  | "version"
  | "network"
  | "timeout"
  | "status"
  | "range"
  | "corrupt"
  | "stale"
  | "over"
  | "engine"
  | "aborted"
  | "closed"
  | "usage";

/** What a {@link ShelfishError} says. */
export interface ErrorFields {
  /** What went wrong. */
  readonly code: ErrorCode;
  /** The same in words, and what to do. */
  readonly message: string;
  /** The file that it went wrong with, if it was one. */
  readonly url?: string;
  /** The status with which the host answered, with code `status`. */
  readonly status?: number;
  /** How the game ended, with code `over`. */
  readonly outcome?: "checkmate" | "stalemate";
  /** Seconds for which the host asks to be left alone, if it told. */
  readonly retryAfter?: number;
}

/** Marks the errors of all entries of the package, each of which has a class of its own. */
const BRAND = Symbol.for("shelfish.ShelfishError");

export interface ShelfishError extends Error, ErrorFields {
  readonly message: string;
}

/**
 * The only error that this package throws. `structuredClone` and `postMessage` make a plain object of it that has all
 * that it says; `new ShelfishError(plain)` makes an error of that again. `instanceof` knows the errors of every entry:
 * those of `shelfish/worker` are also those of `shelfish`.
 */
export class ShelfishError {
  declare readonly name: string;

  static [Symbol.hasInstance](value: unknown): boolean {
    return this === ShelfishError ? BRAND in Object(value) : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  constructor(fields: ErrorFields, cause?: unknown) {
    const { code, message, url, status, outcome, retryAfter } = fields;
    this.name = code === "aborted" ? "AbortError" : "ShelfishError";
    Object.assign(this, { code, message }, url && { url }, status && { status }, outcome && { outcome }, retryAfter !== undefined && { retryAfter });
    const hidden = { stack: `${this.name}: ${new Error(message).stack?.replace(/^Error: /, "")}`, cause };
    for (const [name, value] of Object.entries(hidden)) {
      // What a cause is may be nothing that can be cloned.
      if (value !== undefined) Object.defineProperty(this, name, { value, writable: true, configurable: true });
    }
  }
}

// By class the fields would be lost: of a real Error, cloning keeps the message alone.
Object.setPrototypeOf(ShelfishError.prototype, Error.prototype);
Object.setPrototypeOf(ShelfishError, Error);
Object.defineProperty(ShelfishError.prototype, BRAND, { value: true });
