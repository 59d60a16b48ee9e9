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
 * | `integrity` | The hash of the manifest is not in `integrity`. |
 * | `version` | The format of the database is newer than this package. |
 * | `network` | No answer: no connection, no such host, refused by CORS or a Content-Security-Policy, or an incomplete answer. |
 * | `timeout` | No complete answer in time. |
 * | `status` | The host answered with an error such as 404, 403 or 500: see `status`. |
 * | `range` | The host sent other bytes than requested: a wrong range, a short or long body, a compressed range, or a large file as a whole. |
 * | `corrupt` | The bytes are damaged. |
 * | `stale` | The database was replaced while it was open, and the new database cannot be read. |
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
  | "range"
  | "corrupt"
  | "stale"
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

export interface ShelfishError extends Error, ErrorFields {
  readonly message: string;
}

/**
 * The only error that this package throws. `structuredClone` and `postMessage` make it a plain object with all its
 * fields; `new ShelfishError(object)` restores the error. `instanceof` accepts the errors of every entry: errors of
 * `shelfish/worker` are also errors of `shelfish`.
 */
export class ShelfishError {
  declare readonly name: string;

  static [Symbol.hasInstance](value: unknown): boolean {
    return this === ShelfishError ? BRAND in Object(value) : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  constructor(fields: ErrorFields, cause?: unknown) {
    const { code, message, url, status, outcome, retryAfter } = fields;
    this.name = code === "aborted" ? "AbortError" : "ShelfishError";
    Object.assign(this, { code, message }, url && { url }, status && { status }, outcome && { outcome });
    if (retryAfter !== undefined) Object.assign(this, { retryAfter });
    // Not enumerable, because a cause may not be cloneable.
    const hidden = { stack: `${this.name}: ${new Error(message).stack?.replace(/^Error: /, "")}`, cause };
    for (const [name, value] of Object.entries(hidden)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, writable: true, configurable: true });
    }
  }
}

// Not `extends Error`: the clone of a real Error loses all fields but the message.
Object.setPrototypeOf(ShelfishError.prototype, Error.prototype);
Object.setPrototypeOf(ShelfishError, Error);
Object.defineProperty(ShelfishError.prototype, BRAND, { value: true });
