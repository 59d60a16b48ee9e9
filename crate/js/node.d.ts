export * from "./index.js";

/** A folder with a database, as files. */
export interface Source {
  /** The `file:` URL of the folder, with a slash at its end. */
  readonly url: string;
  /** All of a file, which may have `cap` bytes at most. */
  whole(file: string, cap: number): Promise<Uint8Array>;
  /** Bytes of a file, `end` not among them. */
  range(file: string, start: number, end: number): Promise<Uint8Array>;
}

/** A folder of this machine as the source of a database. */
export function directory(path: string): Source;
