/** Counts, sizes, durations and days in words, and errors in the input of users and links. */

/** Formats bytes in steps of 1000, like the developer tools of browsers. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  // Sizes that round to 1000 kB are shown as 1.0 MB.
  if (bytes < 999_500) return `${decimals(bytes / 1000)} kB`;
  return bytes < 999_500_000
    ? `${decimals(bytes / 1e6)} MB`
    : `${decimals(bytes / 1e9)} GB`;
}

/** Formats milliseconds, with a decimal for short durations. */
export function duration(milliseconds: number): string {
  if (milliseconds < 0.1) return "under 0.1 ms";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 10_000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Formats whole seconds like a clock: "1:05:09", "4:07". */
export function clockText(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(rest)}`
    : `${minutes}:${two(rest)}`;
}

/** "1 request", "2 requests", "1,574 positions" */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats the day of a time in milliseconds since 1970: "2026-11-25". */
export const day = (time: number): string =>
  new Date(time).toISOString().slice(0, 10);

/** Begins a text with a capital letter. */
export const capitalised = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1);

const decimals = (value: number): string =>
  value < 99.95 ? value.toFixed(1) : Math.round(value).toString();

/** The input contains no position or game that can be shown, or a game ends early. The message explains why. */
export class InputError extends Error {
  /** `place` is a part of the input and an offset in it. */
  constructor(
    message: string,
    readonly place?: readonly [text: string, at: number],
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
