/** Decodes a part of a URL. Returns the text unchanged if its encoding is invalid. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
