/** Reads text of limited size. */

/** Returns a stream's text (UTF-8), or `undefined` if it is longer than `limit` bytes. */
export async function boundedText(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<string | undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let read = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    read += value.length;
    if (read > limit) {
      await reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
