/** What can be wrong with something that a person wants to open. */

/** It holds no position or game that can be shown; the message says why, for people. */
export class InputError extends Error {
  /** `line` is the line of the text, from 1. */
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
  }
}

/** Pasted text may be anything: a message quotes only its start. */
export function clip(text: string | undefined): string {
  if (text === undefined) return "";
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
}
