/** Compresses texts for links (deflate, base64url). Loaded when a link needs it. */
import { boundedText } from "../../../crate/js/shared/bounded-text.ts";
import { InputError } from "./words";

/** Maximum length of a decompressed text, in characters. */
const MAX_LENGTH = 2_000_000;

export async function deflate(text: string): Promise<string> {
  const stream = new Blob([text])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** Decompresses the text of a link. Throws an `InputError` if it is damaged. */
export async function inflate(folded: string): Promise<string> {
  const broken = new InputError(
    "The link is damaged: its game (pgnz) cannot be decompressed. Copy the whole link again.",
  );
  try {
    const bytes = Uint8Array.from(
      atob(folded.replaceAll("-", "+").replaceAll("_", "/")),
      (letter) => letter.charCodeAt(0),
    );
    const stream = new Blob([bytes])
      .stream()
      .pipeThrough(new DecompressionStream("deflate-raw"));
    const text = await boundedText(stream, MAX_LENGTH);
    if (text === undefined) throw broken;
    return text;
  } catch {
    throw broken;
  }
}
