/** Text that users and links give, and errors in it. */
/** The input contains no position or game that can be shown. The message explains why. */
export class InputError extends Error {
  /** `line` is the line of the text, from 1. */
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
  }
}

/** Returns the message of a thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Shortens a quoted text for an error message. */
export function clip(text: string | undefined): string {
  if (text === undefined) return "";
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
}

/** Decodes a part of a URL. Returns the text unchanged if its encoding is invalid. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
